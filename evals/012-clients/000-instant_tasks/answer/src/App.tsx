import { useConvex, usePaginatedQuery, useQuery } from "convex/react";
import { ConvexError } from "convex/values";
import { type FormEvent, useState } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";
import { isPending, pendingTask, showAdded, showAllDone, showDone, showMoved, showRemoved, type Task } from "./optimistic";

const PAGE = 4;
const FILTERS = { all: "All", open: "Open", done: "Done" } as const;
type Filter = keyof typeof FILTERS;
type Project = { projectId: Id<"projects">; name: string; open: number };
/** Waits for something that the user did, and shows its failure. */
type Watch = (action: Promise<unknown>) => void;

function messageOf(error: unknown): string {
  if (error instanceof ConvexError) return String(error.data);
  return error instanceof Error ? error.message : "Something went wrong";
}

export default function App() {
  const projects = useQuery(api.tasks.projects);
  const [selected, setSelected] = useState<Id<"projects"> | null>(null);
  const [filter, setFilter] = useState<Filter>("all");
  const [problem, setProblem] = useState<string | null>(null);
  if (projects === undefined) return <p>Loading…</p>;
  const project = projects.find(({ projectId }) => projectId === selected) ?? projects[0];
  if (project === undefined) return <p>There are no projects.</p>;
  const watch: Watch = (action) => {
    action.catch((error: unknown) => {
      setProblem(messageOf(error));
    });
  };
  return (
    <main>
      <h1>{project.name}</h1>
      <nav>
        {projects.map(({ projectId, name, open }) => (
          <button key={projectId} aria-pressed={projectId === project.projectId} onClick={() => setSelected(projectId)}>
            {`${name} (${open})`}
          </button>
        ))}
      </nav>
      <Tools key={project.projectId} project={project} watch={watch} />
      <div>
        {(Object.keys(FILTERS) as Filter[]).map((each) => (
          <button key={each} aria-pressed={each === filter} onClick={() => setFilter(each)}>
            {FILTERS[each]}
          </button>
        ))}
      </div>
      <Tasks project={project} projects={projects} filter={filter} watch={watch} />
      {problem !== null && <p role="alert">{problem}</p>}
    </main>
  );
}

function Tools({ project: { projectId }, watch }: { project: Project; watch: Watch }) {
  const convex = useConvex();
  const counts = useQuery(api.tasks.counts, { projectId });
  const [title, setTitle] = useState("");

  function add(event: FormEvent) {
    event.preventDefault();
    if (title === "") return;
    const task = pendingTask(projectId, title);
    const args = { projectId, title };
    watch(convex.mutation(api.tasks.add, args, { optimisticUpdate: (store) => showAdded(store, task) }));
    setTitle("");
  }

  function finishAll() {
    const args = { projectId };
    watch(convex.mutation(api.tasks.finishAll, args, { optimisticUpdate: (store) => showAllDone(store, projectId) }));
  }

  return (
    <>
      <p role="status">{counts === undefined ? "" : `${counts.open} open, ${counts.done} done`}</p>
      <form onSubmit={add}>
        <label>
          Title <input value={title} onChange={(event) => setTitle(event.target.value)} />
        </label>
        <button type="submit">Add</button>
      </form>
      <button onClick={finishAll}>Finish all</button>
    </>
  );
}

function Tasks(props: { project: Project; projects: Project[]; filter: Filter; watch: Watch }) {
  const { project, projects, filter, watch } = props;
  const list = { projectId: project.projectId, filter };
  const { results, status, loadMore } = usePaginatedQuery(api.tasks.list, list, { initialNumItems: PAGE });
  const others = projects.filter(({ projectId }) => projectId !== project.projectId);
  return (
    <>
      <ul>
        {results.map((task) => (
          <Item key={task._id} task={task} others={others} watch={watch} />
        ))}
      </ul>
      {status !== "Exhausted" && (
        <button disabled={status !== "CanLoadMore"} onClick={() => loadMore(PAGE)}>
          Load more
        </button>
      )}
    </>
  );
}

function Item({ task, others, watch }: { task: Task; others: Project[]; watch: Watch }) {
  const convex = useConvex();
  const { _id: taskId, title, done } = task;
  const disabled = isPending(task);

  function toggle() {
    const args = { taskId, done: !done };
    watch(convex.mutation(api.tasks.setDone, args, { optimisticUpdate: (store) => showDone(store, task, !done) }));
  }

  function move(projectId: Id<"projects">) {
    const args = { taskId, projectId };
    watch(convex.mutation(api.tasks.move, args, { optimisticUpdate: (store) => showMoved(store, task, projectId) }));
  }

  function remove() {
    watch(convex.mutation(api.tasks.remove, { taskId }, { optimisticUpdate: (store) => showRemoved(store, task) }));
  }

  return (
    <li>
      <label>
        <input type="checkbox" checked={done} disabled={disabled} onChange={toggle} />
        {title}
      </label>
      <button disabled={disabled} onClick={remove}>
        Remove
      </button>
      {others.map(({ projectId, name }) => (
        <button key={projectId} disabled={disabled} onClick={() => move(projectId)}>
          {`Move to ${name}`}
        </button>
      ))}
    </li>
  );
}
