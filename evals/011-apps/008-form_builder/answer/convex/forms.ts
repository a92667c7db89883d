import { ConvexError, v } from "convex/values";
import type { Doc, Id } from "./_generated/dataModel";
import { internalQuery, mutation, query, type MutationCtx, type QueryCtx } from "./_generated/server";
import { mistakesOf, placesOf } from "./lib/definitions";
import { checkAnswer, type Field, hasType, isNone, type Mistake, parsePath, resultOf, type Row } from "./lib/forms";
import { crossed, csvOf, mergeQuestions, type Question, type Submission, summarize } from "./lib/results";
import { fields, saved } from "./schema";

type Code = "FORBIDDEN" | "UNPUBLISHED" | "SUBMITTED" | "PATH" | "TYPE" | "FIELD";
type Saved = Doc<"responses">["draft"];

function fail(code: Code): ConvexError<{ code: Code }> {
  return new ConvexError({ code });
}

async function ownForm(ctx: QueryCtx, user: string, id: Id<"forms">): Promise<Doc<"forms">> {
  const form = await ctx.db.get("forms", id);
  if (form?.owner !== user) throw fail("FORBIDDEN");
  return form;
}

async function ownResponse(ctx: QueryCtx, user: string, id: Id<"responses">): Promise<Doc<"responses">> {
  const response = await ctx.db.get("responses", id);
  if (response?.user !== user) throw fail("FORBIDDEN");
  return response;
}

async function openResponse(ctx: MutationCtx, user: string, id: Id<"responses">): Promise<Doc<"responses">> {
  const response = await ownResponse(ctx, user, id);
  if (response.submitted > 0) throw fail("SUBMITTED");
  return response;
}

async function versionsOf(ctx: QueryCtx, form: Id<"forms">): Promise<Doc<"versions">[]> {
  return await ctx.db
    .query("versions")
    .withIndex("by_form", (q) => q.eq("form", form))
    .collect();
}

async function fieldsOf(ctx: QueryCtx, form: Id<"forms">, version: number): Promise<Field[] | null> {
  const found = await ctx.db
    .query("versions")
    .withIndex("by_form", (q) => q.eq("form", form).eq("version", version))
    .unique();
  return found?.fields ?? null;
}

async function fieldsFor(ctx: QueryCtx, { form, version }: Doc<"responses">): Promise<Field[]> {
  return (await fieldsOf(ctx, form, version)) ?? [];
}

async function submissionsOf(ctx: QueryCtx, form: Id<"forms">): Promise<{ questions: Question[]; submissions: Submission[] }> {
  const versions = await versionsOf(ctx, form);
  const responses = await ctx.db
    .query("responses")
    .withIndex("by_form", (q) => q.eq("form", form).gt("submitted", 0))
    .collect();
  const submissions = responses.map(({ version, draft }) => ({ version, result: resultOf(versions[version - 1]?.fields ?? [], draft) }));
  return { questions: mergeQuestions(versions.map((each) => each.fields)), submissions };
}

export const create = mutation({
  args: { user: v.string() },
  handler: async (ctx, args) => await ctx.db.insert("forms", { owner: args.user, draft: [], latest: 0 }),
});

export const edit = mutation({
  args: { user: v.string(), form: v.id("forms"), fields },
  handler: async (ctx, args) => {
    const { _id } = await ownForm(ctx, args.user, args.form);
    await ctx.db.patch("forms", _id, { draft: args.fields });
    return null;
  },
});

export const publish = mutation({
  args: { user: v.string(), form: v.id("forms") },
  handler: async (ctx, args): Promise<Mistake[]> => {
    const form = await ownForm(ctx, args.user, args.form);
    const former = (await versionsOf(ctx, form._id)).flatMap((version) => placesOf(version.fields));
    const mistakes = mistakesOf(form.draft, new Map(former));
    if (mistakes.length > 0) return mistakes;
    const version = form.latest + 1;
    await ctx.db.insert("versions", { form: form._id, version, fields: form.draft });
    await ctx.db.patch("forms", form._id, { latest: version });
    return [];
  },
});

export const version = query({
  args: { form: v.id("forms"), version: v.number() },
  handler: async (ctx, args) => await fieldsOf(ctx, args.form, args.version),
});

export const begin = mutation({
  args: { user: v.string(), form: v.id("forms") },
  handler: async (ctx, { user, form }) => {
    const version = (await ctx.db.get("forms", form))?.latest ?? 0;
    const fields = await fieldsOf(ctx, form, version);
    if (fields === null) throw fail("UNPUBLISHED");
    const groups = fields.filter(({ kind }) => kind === "group").map(({ key }) => [key, []]);
    return await ctx.db.insert("responses", { form, user, version, submitted: 0, draft: Object.fromEntries(groups) as Saved });
  },
});

type Rows = Extract<Saved[string], Record<string, unknown>[]>;

function rowsIn(draft: Saved, key: string): Rows {
  const rows = draft[key];
  return Array.isArray(rows) ? rows.filter((row) => typeof row === "object") : [];
}

export const save = mutation({
  args: { user: v.string(), response: v.id("responses"), path: v.string(), value: v.nullable(saved) },
  handler: async (ctx, args) => {
    const response = await openResponse(ctx, args.user, args.response);
    const place = parsePath(await fieldsFor(ctx, response), args.path);
    const draft: Saved = { ...response.draft };
    const rows = place?.group ? rowsIn(draft, place.group.key) : [];
    if (place === null || place.row > rows.length || (place.group !== null && place.row >= place.group.max)) throw fail("PATH");
    const { field, group } = place;
    if (args.value !== null && !hasType(field, args.value)) throw fail("TYPE");
    const value = args.value === null || isNone(field, args.value) ? null : args.value;
    const place_ = group === null ? draft : { ...rows[place.row] };
    if (value === null) delete place_[field.key];
    else place_[field.key] = value;
    if (group !== null) draft[group.key] = rows.toSpliced(place.row, 1, place_ as Rows[number]);
    await ctx.db.patch("responses", response._id, { draft });
    return null;
  },
});

export const removeRow = mutation({
  args: { user: v.string(), response: v.id("responses"), path: v.string() },
  handler: async (ctx, args) => {
    const response = await openResponse(ctx, args.user, args.response);
    const [, key = "", row = ""] = /^(.*)\[(0|[1-9]\d*)\]$/.exec(args.path) ?? [];
    const isGroup = (await fieldsFor(ctx, response)).some((field) => field.kind === "group" && field.key === key);
    const rows = isGroup ? rowsIn(response.draft, key) : [];
    if (Number(row) >= rows.length) throw fail("PATH");
    await ctx.db.patch("responses", response._id, { draft: { ...response.draft, [key]: rows.toSpliced(Number(row), 1) } });
    return null;
  },
});

export const submit = mutation({
  args: { user: v.string(), response: v.id("responses") },
  handler: async (ctx, args): Promise<Mistake[]> => {
    const response = await openResponse(ctx, args.user, args.response);
    const checked = checkAnswer(await fieldsFor(ctx, response), response.draft);
    if (!checked.ok) return checked.mistakes;
    const last = await ctx.db
      .query("responses")
      .withIndex("by_form", (q) => q.eq("form", response.form))
      .order("desc")
      .first();
    await ctx.db.patch("responses", response._id, { draft: checked.answer as Saved, submitted: (last?.submitted ?? 0) + 1 });
    return [];
  },
});

export const response = query({
  args: { user: v.string(), response: v.id("responses") },
  handler: async (ctx, args) => {
    const { version, submitted, draft } = await ownResponse(ctx, args.user, args.response);
    return { version, submitted: submitted > 0, answer: draft };
  },
});

export const summary = query({
  args: { user: v.string(), form: v.id("forms") },
  handler: async (ctx, args) => {
    await ownForm(ctx, args.user, args.form);
    const { questions, submissions } = await submissionsOf(ctx, args.form);
    const results: Row[] = submissions.map(({ result }) => result);
    return summarize(questions, results);
  },
});

export const cross = query({
  args: { user: v.string(), form: v.id("forms"), rows: v.string(), columns: v.string() },
  handler: async (ctx, args) => {
    await ownForm(ctx, args.user, args.form);
    const { questions, submissions } = await submissionsOf(ctx, args.form);
    const [rows, columns] = [args.rows, args.columns].map((name) =>
      questions.find(({ key, kind }) => key === name && (kind === "choice" || kind === "choices")),
    );
    if (rows === undefined || columns === undefined) throw fail("FIELD");
    const results = submissions.map(({ result }) => result);
    return { rows: rows.options, columns: columns.options, counts: crossed(rows, columns, results) };
  },
});

export const table = internalQuery({
  args: { user: v.string(), form: v.string() },
  handler: async (ctx, args): Promise<{ status: number; csv: string }> => {
    const id = ctx.db.normalizeId("forms", args.form);
    const form = id === null ? null : await ctx.db.get("forms", id);
    if (form === null) return { status: 404, csv: "" };
    if (form.owner !== args.user) return { status: 403, csv: "" };
    const { questions, submissions } = await submissionsOf(ctx, form._id);
    return { status: 200, csv: csvOf(questions, submissions) };
  },
});
