import { v } from "convex/values";
import { startFrom } from "./lib/migrations";

const theme = v.optional(v.union(v.literal("dark"), v.literal("bright")));

export const users = startFrom(
  "users",
  v.object({
    name: v.string(),
    admin: v.optional(v.boolean()),
    alias: v.optional(v.string()),
    theme,
    team: v.nullable(v.id("teams")),
  }),
)
  .map("splitName", ({ name, ...rest }) => {
    const words = name.split(" ").filter((word) => word !== "");
    if (words.length === 0) throw new Error(`The user ${rest._id} has no name`);
    return { ...rest, firstName: words[0], lastName: words.slice(1).join(" ") };
  })
  .set("role", "role", (user) => (user.admin === true ? "admin" : "member"))
  .drop("noAdmin", "admin")
  .rename("nick", "alias", "nick")
  .set("tags", "tags", () => [])
  .map("settings", ({ theme, ...rest }) => ({
    ...rest,
    settings: { theme: theme === "dark" ? "dark" : "light", notify: true },
  }))
  .rename("teamId", "team", "teamId");

const title = v.optional(v.string());

export const shapes = startFrom(
  "shapes",
  v.union(
    v.object({ kind: v.literal("circle"), diameter: v.number(), title }),
    v.object({ kind: v.literal("square"), side: v.number(), title }),
    v.object({ kind: v.literal("group"), members: v.array(v.id("shapes")), title }),
  ),
)
  .rename("label", "title", "label")
  .only("radius", "kind", "circle", ({ diameter, label, ...rest }) => ({
    ...rest,
    radius: diameter / 2,
    label: label ?? "circle",
  }))
  .only("rect", "kind", "square", ({ side, label }) => ({
    kind: "rect",
    width: side,
    height: side,
    label: label ?? "square",
  }));
