"""What a grading goes by: what was asked for, else what the suite says."""

from dataclasses import replace

from convex_evals.pipeline.types import GradingOptions
from convex_evals.suite import SETTINGS_FILE, Eval, SuiteSettings, read_suite_settings


def with_suite_settings(options: GradingOptions, eval: Eval) -> GradingOptions:
    """Fills in the date of the packages and the files of the answer from the suite's `suite.json`."""
    path = eval.path.parents[1] / SETTINGS_FILE
    settings = read_suite_settings(path).settings if path.is_file() else SuiteSettings()
    return replace(
        options,
        packages_before=options.packages_before or settings.packages_before,
        answer_files=options.answer_files or settings.answer_files,
    )
