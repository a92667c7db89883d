import { mount } from "./lib/routes";
import { addMember, echo, getMember, health, link, listMembers, removeMember, report } from "./routes";

export default mount([health, listMembers, addMember, getMember, removeMember, report, echo, link]);
