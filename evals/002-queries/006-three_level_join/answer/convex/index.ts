import { v } from "convex/values";
import type { Doc } from "./_generated/dataModel";
import { query, type QueryCtx } from "./_generated/server";

export const getCompanyStaff = query({
  args: { companyId: v.id("companies") },
  handler: async (ctx, args) => {
    const company = await ctx.db.get("companies", args.companyId);
    if (company === null) {
      return null;
    }
    const departments = await ctx.db
      .query("departments")
      .withIndex("by_company", (q) => q.eq("companyId", company._id))
      .collect();
    return {
      name: company.name,
      departments: await Promise.all(
        departments.map((department) => withEmployees(ctx, department)),
      ),
    };
  },
});

async function withEmployees(ctx: QueryCtx, department: Doc<"departments">) {
  const employees = await ctx.db
    .query("employees")
    .withIndex("by_department", (q) => q.eq("departmentId", department._id))
    .collect();
  return {
    name: department.name,
    employees: employees.map(({ name, role }) => ({ name, role })),
  };
}
