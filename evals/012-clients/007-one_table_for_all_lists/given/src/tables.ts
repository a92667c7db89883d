import { api } from "../convex/_generated/api";
import { list } from "./lists";

export const customers = list(api.customers.list, {
  id: "_id",
  name: (row) => row.name,
  includes: (row, args) => args.level === undefined || row.level === args.level,
  compare: (a, b, args) => {
    if (args.sort === "newest") return b._creationTime - a._creationTime;
    return a.name === b.name ? a._creationTime - b._creationTime : a.name < b.name ? -1 : 1;
  },
})
  .column("name", "Name")
  .column("level", "Level", (level) => "*".repeat(level))
  .column("note", "Note")
  .filter("level", "Level", [
    [3, "Gold"],
    [2, "Silver"],
    [1, "Bronze"],
  ])
  .sort("sort", [
    ["name", "By name"],
    ["newest", "Newest first"],
  ])
  .action("rename", api.customers.rename, {
    label: "Rename",
    pass: { customerId: "_id" },
    change: (row, { name }) => ({ ...row, name }),
  })
  .action("promote", api.customers.setLevel, {
    label: "Promote",
    pass: { _id: "_id" },
    args: (row) => ({ level: row.level === 1 ? 2 : 3 }),
    change: (row, { level }) => ({ ...row, level }),
  });

/** Whoever uses it says which status and which order. */
export const someOrders = list(api.orders.list, {
  id: "orderId",
  name: (row) => `order ${row.number}`,
  includes: (row, args) =>
    row.customerId === args.customerId && (args.status === undefined || row.status === args.status),
  compare: (a, b, args) => (args.sort === "total" ? b.total - a.total : a.number - b.number),
})
  .column("number", "No.")
  .column("status", "Status")
  .action("pay", api.orders.setStatus, {
    label: "Pay",
    pass: { orderId: "orderId" },
    args: () => ({ status: "paid" }),
    change: (row, { status }) => ({ ...row, status }),
  })
  .action("discount", api.orders.discount, {
    label: "Discount",
    pass: { orderId: "orderId" },
    change: (row, { amount }) => ({ ...row, total: row.total - amount }),
  });

export const orders = someOrders
  .column("total", "Total", (total, row) => `${total} € (${row.status})`)
  .column("address", "City", ({ city }) => city)
  .filter("status", "Status", [
    ["open", "Open"],
    ["paid", "Paid"],
    ["shipped", "Shipped"],
  ])
  .sort("sort", [
    ["number", "By number"],
    ["total", "Largest first"],
  ])
  .action("remove", api.orders.remove, { label: "Remove", pass: { orderId: "orderId" }, change: () => null });

export const events = list(api.events.list, {
  id: "_id",
  name: (row) => `event ${row.at}`,
  includes: (row, args) => args.pinned === undefined || row.pinned === args.pinned,
  compare: (a, b) => b.at - a.at,
})
  .column("kind", "Kind")
  .column("text", "Text", (text, row) => text ?? (row.kind === "login" ? "somebody" : row.kind))
  .column("amount", "Amount")
  .column("pinned", "Pinned", (pinned) => (pinned ? "yes" : "no"))
  .filter("pinned", "Pinned", [
    [true, "Pinned"],
    [false, "Not pinned"],
  ])
  .action("pin", api.events.setPinned, {
    label: "Pin",
    pass: { eventId: "_id" },
    args: (row) => ({ pinned: !row.pinned }),
    change: (row, { pinned }) => ({ ...row, pinned }),
  });
