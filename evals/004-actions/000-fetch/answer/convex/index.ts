import { ConvexError, v } from "convex/values";
import { action } from "./_generated/server";

export const getBook = action({
  args: { baseUrl: v.string(), isbn: v.string() },
  handler: async (_ctx, { baseUrl, isbn }) => {
    const response = await send(
      `${baseUrl}/books/${encodeURIComponent(isbn)}`,
      { headers: { Accept: "application/json" } },
    );
    if (response.status === 404) {
      return null;
    }
    const { title, year } = await readObject(response);
    if (typeof title !== "string" || typeof year !== "number") {
      throw new ConvexError({ code: "INVALID_RESPONSE" });
    }
    return { title, year };
  },
});

export const addBook = action({
  args: {
    baseUrl: v.string(),
    title: v.string(),
    token: v.string(),
    year: v.number(),
  },
  handler: async (_ctx, { baseUrl, title, token, year }) => {
    const response = await send(`${baseUrl}/books`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ title, year }),
    });
    const { id } = await readObject(response);
    if (typeof id !== "string") {
      throw new ConvexError({ code: "INVALID_RESPONSE" });
    }
    return id;
  },
});

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch {
    throw new ConvexError({ code: "UNREACHABLE" });
  }
}

async function readObject(
  response: Response,
): Promise<Record<string, unknown>> {
  if (!response.ok) {
    throw new ConvexError({ code: "HTTP_ERROR", status: response.status });
  }
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ConvexError({ code: "INVALID_RESPONSE" });
  }
  if (typeof body !== "object" || body === null) {
    throw new ConvexError({ code: "INVALID_RESPONSE" });
  }
  return { ...body };
}
