import { httpRouter } from "convex/server";
import { ConvexError } from "convex/values";
import { api } from "./_generated/api";
import type { Doc } from "./_generated/dataModel";
import { httpAction } from "./_generated/server";

const http = httpRouter();

/** For partner shops, which send the same fields as the app. */
http.route({
  path: "/orders",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const { customerId, lines, clientRef } = (await request.json()) as Pick<
      Doc<"orders">,
      "customerId" | "lines" | "clientRef"
    >;
    const order = { customerId, lines, clientRef };
    try {
      const placed = await ctx.runMutation(api.orders.place, order);
      return Response.json(placed, { status: 201 });
    } catch (error) {
      if (!(error instanceof ConvexError)) throw error;
      return Response.json(error.data, { status: 409 });
    }
  }),
});

export default http;
