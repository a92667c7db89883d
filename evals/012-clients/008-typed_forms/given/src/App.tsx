import { useMutation, useQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";
import { orderArgs, reviewArgs } from "../convex/args";
import type { Id } from "../convex/_generated/dataModel";
import { Check, Choice, Problem, Text } from "./fields";
import { isTemporary, useConvexForm, type FieldPath } from "./forms";

const ADDRESS = ["customer.address.street", "customer.address.floor"] as const satisfies readonly FieldPath<
  typeof api.orders.place
>[];

export default function App() {
  const shops = useQuery(api.shops.list);
  const [index, setIndex] = useState(0);
  const [isOpen, setIsOpen] = useState(true);
  const shop = shops?.[index];
  if (shop === undefined) return <p>Loading…</p>;
  return (
    <main>
      <h1>{shop.name}</h1>
      <button onClick={() => setIndex(1 - index)}>Other shop</button>
      <button onClick={() => setIsOpen(!isOpen)}>{isOpen ? "Close" : "Open"}</button>
      {isOpen && <OrderForm key={shop._id} shopId={shop._id} />}
      <Orders shopId={shop._id} />
      <ReviewForm />
      <Reviews />
    </main>
  );
}

function OrderForm({ shopId }: { shopId: Id<"shops"> }) {
  const [placed, setPlaced] = useState("");
  const form = useConvexForm(api.orders.place, {
    validators: orderArgs,
    draft: `order ${shopId}`,
    fixed: { shopId },
    initial: { lines: [{ amount: 1 }], payment: { kind: "invoice", limit: 100n }, customer: { address: { floor: 0 } } },
    insert: {
      list: api.orders.list,
      args: ({ shopId }) => ({ shopId }),
      row: (args, _id) => ({ ...args, _id, _creationTime: Date.now() }),
    },
    onDone: ({ lines }, { customer }) => setPlaced(`${lines} for ${customer.name}`),
  });
  const lines = form.array("lines");
  const gift = form.optional("gift");
  const kind = form.field("payment.kind");
  const name = form.field("customer.name");

  function giveToMyself() {
    gift.set(true);
    form.field("gift.to").set(name.value);
    form.field("gift.wrapped").set(true);
  }

  return (
    <section aria-label="Order">
      <Text label="Name" field={name} />
      <Text label="Email" field={form.field("customer.email")} />
      <Text label="Street" field={form.field("customer.address.street")} />
      <Text label="Floor" field={form.field("customer.address.floor")} />
      {Array.from({ length: lines.length }, (_, index) => {
        const extras = form.array(`lines.${index}.extras`);
        return (
          <fieldset key={index} aria-label={`Line ${index}`}>
            <Text label="Product" field={form.field(`lines.${index}.product`)} />
            <Text label="Amount" field={form.field(`lines.${index}.amount`)} />
            <Choice label="Size" field={form.field(`lines.${index}.size`)} />
            {Array.from({ length: extras.length }, (_, extra) => (
              <Text key={extra} label={`Extra ${extra}`} field={form.field(`lines.${index}.extras.${extra}`)} />
            ))}
            <button onClick={() => extras.add()}>Add extra</button>
            <button onClick={() => extras.remove(0)}>Remove extra</button>
            <button onClick={() => lines.remove(index)}>Remove line</button>
            <button onClick={() => lines.move(index, 0)}>To the top</button>
          </fieldset>
        );
      })}
      <Problem of="Lines" text={lines.error} />
      <button onClick={() => lines.add()}>Add line</button>
      <button onClick={() => lines.add({ product: "pen", amount: 2, extras: ["ink", "cap"] })}>Add pens</button>
      <Choice label="Payment" field={kind} />
      <Text label="Payer" field={form.field("payment.name")} />
      {kind.value === "card" && <Text label="Card number" field={form.field("payment.cardNumber")} />}
      {kind.value === "invoice" && <Choice label="Days" field={form.field("payment.days")} />}
      {kind.value === "invoice" && <Text label="Limit" field={form.field("payment.limit")} />}
      <label>
        <input type="checkbox" checked={gift.value} onChange={(event) => gift.set(event.target.checked)} /> Gift
      </label>
      <Problem of="Gift" text={gift.error} />
      {gift.value && <Text label="To" field={form.field("gift.to")} />}
      {gift.value && <Check label="Wrapped" field={form.field("gift.wrapped")} />}
      <button onClick={giveToMyself}>Gift for myself</button>
      <Check label="Newsletter" field={form.field("newsletter")} />
      <button onClick={() => form.submit()}>Place order</button>
      <button onClick={() => form.reset()}>Start again</button>
      <Problem of="Order" text={form.error} />
      <p role="status" aria-label="Order status">
        {form.pending ? "sending" : placed}
      </p>
      <p data-testid="address">{ADDRESS.map((path) => form.field(path).value).join(", ")}</p>
    </section>
  );
}

function Orders({ shopId }: { shopId: Id<"shops"> }) {
  const orders = useQuery(api.orders.list, { shopId });
  const cancel = useMutation(api.orders.cancel);
  return (
    <ul aria-label="Orders">
      {orders?.map(({ _id, requestId, customer, lines }) => (
        <li key={requestId}>
          <span>{`${customer.name}: ${lines.map(({ product }) => product).join(", ")}`}</span>
          <button disabled={isTemporary(_id)} onClick={() => void cancel({ orderId: _id })}>
            Cancel
          </button>
        </li>
      ))}
    </ul>
  );
}

function ReviewForm() {
  const form = useConvexForm(api.reviews.add, {
    validators: reviewArgs,
    draft: "review",
    insert: { list: api.reviews.list, row: (args, _id) => ({ ...args, _id, _creationTime: Date.now() }) },
  });
  const tags = form.array("tags");
  return (
    <section aria-label="Review">
      <Text label="Order ID" field={form.field("orderId")} />
      <Choice label="Stars" field={form.field("stars")} />
      <Text label="Text" field={form.field("text")} />
      {Array.from({ length: tags.length }, (_, index) => (
        <Text key={index} label={`Tag ${index}`} field={form.field(`tags.${index}`)} />
      ))}
      <button onClick={() => tags.add("new")}>Add tag</button>
      <button onClick={() => tags.remove(0)}>Remove tag</button>
      <button onClick={() => form.submit()}>Send review</button>
      <Problem of="Review" text={form.error} />
      <p role="status" aria-label="Review status">
        {form.pending ? "sending" : ""}
      </p>
    </section>
  );
}

function Reviews() {
  const reviews = useQuery(api.reviews.list);
  return (
    <ul aria-label="Reviews">
      {reviews?.map(({ requestId, stars, text }) => <li key={requestId}>{`${stars}: ${text ?? "no text"}`}</li>)}
    </ul>
  );
}
