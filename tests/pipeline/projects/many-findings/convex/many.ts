/** Hits many rules, so that two linters can be compared. */
import { mutation } from "./_generated/server";

declare const anything: any;
declare function takes(text: string): void;
declare function call(callback: () => void): void;
enum Colour {
  Red = "red",
}
class Holder {
  value = 1;
  read() {
    return this.value;
  }
}

export const many = mutation({
  args: {},
  handler: async (ctx) => {
    const row = anything.field;
    takes(anything);
    anything();
    await 1;
    const list = [1, 2, 3];
    delete list[0];
    for (const key in list) {
      takes(key);
    }
    const read = new Holder().read;
    call(async () => {
      await ctx.db.query("messages").first();
    });
    takes(`${{}}`);
    takes(String({}));
    list.length;
    if ((row as Colour) === "red") {
      throw "text";
    }
    await Promise.reject("no");
    const sum: unknown = list.length + ({} as never as { a: 1 } as unknown as bigint as never);
    // @ts-ignore
    const wrong: string = 1;
    debugger;
    if (list.length === NaN || typeof read === "strnig") {
      return -anything;
    }
    const optional: { a?: { b: number } } = {};
    takes((optional.a?.b)!.toFixed());
    const self = { wrong, sum };
    self.wrong = self.wrong;
    switch (list.length) {
      case 1:
        takes("a");
      case 2:
        takes("b");
      case 2:
        break;
    }
    setTimeout("alert(1)", 1);
    while ((list as unknown) && false) {
      takes("never");
    }
    return anything;
  },
});
