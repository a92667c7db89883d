"""Making a deployment as empty as it was after its deploy."""

from convex_evals.pipeline.grading.kit.environment import Environment
from convex_evals.pipeline.grading.kit.storage import Storage
from convex_evals.pipeline.grading.kit.tables import Tables
from convex_evals.pipeline.grading.kit.transport import Transport


def clean(transport: Transport) -> None:
    """Scheduled functions first, so that none of them writes into a table that is already clean."""
    components = [component["id"] or None for component in transport.system("query", "frontend/components:list")]
    for component in components:
        transport.administer("/api/cancel_all_jobs", {"componentId": component})
    for component in components:
        for table in Tables(transport).names(component):
            Tables(transport).clear(table, component)
        transport.administer("/api/delete_scheduled_functions_table", {"componentId": component})
    Storage(transport).clear()
    Environment(transport).clear()
