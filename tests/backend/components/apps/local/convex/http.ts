import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";

const http = httpRouter();
http.route({ path: "/first/notes", method: "PUT", handler: httpAction(async () => new Response("the app's PUT")) });
http.route({ pathPrefix: "/", method: "GET", handler: httpAction(async () => new Response("the app")) });
export default http;
