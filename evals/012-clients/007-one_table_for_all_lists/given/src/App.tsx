import { type FormEvent, useState } from "react";
import type { Id } from "../convex/_generated/dataModel";
import { ListTable, useList, type RowOf } from "./lists";
import { customers, events, orders, someOrders } from "./tables";

export default function App() {
  const table = useList(customers, { pageSize: 3 });
  const [result, setResult] = useState("");
  const customerId: Id<"customers"> | undefined = table.selected[0];

  async function rename(row: RowOf<typeof customers>, name: string) {
    const { length } = await table.run("rename", row, { name });
    setResult(`${length} characters`);
  }

  return (
    <main>
      <ListTable table={table} label="Customers" buttons={["promote"]} />
      <Field
        label="New name"
        onSubmit={(name) => {
          for (const row of table.rows) {
            if (row._id === customerId) rename(row, name).catch(() => setResult("not renamed"));
          }
        }}
      />
      <p data-testid="result">{result}</p>
      <button onClick={() => table.setFilter("level", 3)}>Gold only</button>
      <button onClick={() => table.setFilter("level", undefined)}>All levels</button>
      <button onClick={() => table.setSort("newest")}>Newest customers</button>
      <button onClick={() => table.clear()}>Select none</button>
      {customerId !== undefined && <Orders key={customerId} customerId={customerId} />}
      <Events />
    </main>
  );
}

function Orders({ customerId }: { customerId: Id<"customers"> }) {
  const all = useList(orders, { args: { customerId }, pageSize: 4 });
  const paid = useList(someOrders, { args: { customerId, status: "paid", sort: "number" }, pageSize: 2 });
  const chosen = all.rows.filter(({ orderId }) => all.selected.includes(orderId));

  function discount(text: string) {
    const amount = Number(text);
    for (const row of chosen) all.run("discount", row, { amount }).catch(() => {});
  }

  return (
    <>
      <ListTable table={all} label="All orders" buttons={["pay", "remove"]} />
      <Field label="Discount" onSubmit={discount} />
      <p data-testid="state">{`${all.sort}, ${all.filters.status ?? "any"}`}</p>
      <ListTable table={paid} label="Paid orders" />
    </>
  );
}

function Events() {
  const table = useList(events, { pageSize: 4 });
  return <ListTable table={table} label="Events" buttons={["pin"]} />;
}

function Field({ label, onSubmit }: { label: string; onSubmit: (text: string) => void }) {
  const [text, setText] = useState("");
  function submit(event: FormEvent) {
    event.preventDefault();
    onSubmit(text);
    setText("");
  }
  return (
    <form onSubmit={submit}>
      <label>
        {label} <input value={text} onChange={(event) => setText(event.target.value)} />
      </label>
    </form>
  );
}
