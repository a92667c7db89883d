"""Is an answer right? Six steps: filesystem, install, deploy, tsc, eslint, tests.

async with open_tools(settings) as tools:
    result = await grade(eval, Submission(files), workspace, GradingOptions(), tools)
"""
