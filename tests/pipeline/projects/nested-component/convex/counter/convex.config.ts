import { defineComponent } from "convex/server";
import inner from "../inner/convex.config";

const counter = defineComponent("counter");
counter.use(inner);
export default counter;
