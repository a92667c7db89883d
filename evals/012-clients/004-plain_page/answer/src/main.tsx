import { ConvexClient } from "convex/browser";
import { ConvexError } from "convex/values";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";
import { isPending, like, remove, send } from "./changes";
import { button, element, show } from "./dom";

type Message = Doc<"messages">;
type Content = { state: "loading" } | { state: "failed"; text: string } | { state: "there"; messages: Message[] };

const convex = new ConvexClient(import.meta.env.VITE_CONVEX_URL);

let shown: Id<"rooms"> | undefined;
let stopFollowing = () => {};
const roomButtons = new Map<string, HTMLButtonElement>();
const items = new Map<string, HTMLLIElement>();

const nav = element("nav");
const place = element("div");
const list = element("ul");
const field = element("input");
const alerts = element("div");

function textOf(error: unknown): string {
  return error instanceof ConvexError ? String(error.data) : String(error);
}

/** Waits for a change that is visible already. */
function watch(change: Promise<unknown>): void {
  change.catch((error: unknown) => {
    const alert = element("p", textOf(error));
    alert.setAttribute("role", "alert");
    alerts.replaceChildren(alert);
  });
}

function follow(roomId: Id<"rooms">): void {
  stopFollowing();
  shown = roomId;
  showContent({ state: "loading" });
  stopFollowing = convex.onUpdate(
    api.messages.list,
    { roomId },
    (messages) => showContent({ state: "there", messages }),
    (error) => showContent({ state: "failed", text: textOf(error) }),
  );
}

function showContent(content: Content): void {
  if (content.state === "there") {
    show(list, items, content.messages, ({ _id }) => _id, createItem, updateItem);
    if (list.parentNode !== place) place.replaceChildren(list);
  } else {
    place.replaceChildren(element("p", content.state === "loading" ? "Loading…" : content.text));
  }
}

function createItem({ _id, text }: Message): HTMLLIElement {
  const item = element("li");
  item.append(
    element("span", text),
    button("", () => watch(like(convex, _id))),
    button("Remove", () => {
      if (shown !== undefined) watch(remove(convex, shown, _id));
    }),
  );
  return item;
}

function updateItem(item: HTMLLIElement, message: Message): void {
  const [likes, removal] = item.querySelectorAll("button");
  if (likes === undefined || removal === undefined) return;
  likes.textContent = `Like (${message.likes})`;
  likes.disabled = removal.disabled = isPending(message);
}

convex.onUpdate(api.rooms.list, {}, (rooms) => {
  const [first] = rooms;
  if (shown === undefined && first !== undefined) follow(first.roomId);
  show(
    nav,
    roomButtons,
    rooms,
    ({ roomId }) => roomId,
    ({ roomId }) =>
      button("", () => {
        if (roomId === shown) return;
        follow(roomId);
        for (const [id, each] of roomButtons) each.ariaPressed = String(id === roomId);
      }),
    (each, { roomId, name, messages }) => {
      each.textContent = `${name} (${messages})`;
      each.ariaPressed = String(roomId === shown);
    },
  );
});

const form = element("form");
const label = element("label", "Message ");
label.append(field);
form.append(label, element("button", "Send"));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (field.value === "" || shown === undefined) return;
  watch(send(convex, shown, field.value));
  field.value = "";
});

document.getElementById("root")?.append(nav, place, form, alerts);
