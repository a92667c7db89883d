"""Is an answer right? Six steps: filesystem, install, deploy, tsc, eslint, tests.

async with open_tools(settings) as tools:
    result = await grade(Assignment(eval, files, GradingOptions(), folder), tools)
"""
