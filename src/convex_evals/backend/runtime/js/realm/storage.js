// `ctx.storage.store` and `ctx.storage.get`: blobs travel as bytes, not as JSON.
($) => {
  "use strict";
  return {
    async store({ blob, options }) {
      $.requireAction("storage.store()");
      const { Blob, bytesOf } = $.use("blob");
      if (!(blob instanceof Blob)) {
        throw new Error(
          "store() expects a Blob. If you are trying to store a Request, " +
            "`await request.blob()` will give you the correct input.",
        );
      }
      const args = { contentType: blob.type || null, sha256: options?.sha256 ?? null };
      const { value } = await $.use("pending").operation("storage.store", args, bytesOf(blob));
      return value;
    },

    async get({ storageId }) {
      $.requireAction("storage.get()");
      if (typeof storageId !== "string") {
        throw new Error(`storage.get requires a string storageId but received ${storageId}`);
      }
      const { Blob } = $.use("blob");
      const { value, bytes } = await $.use("pending").operation("storage.get", { storageId });
      return value === null ? null : new Blob([bytes], { type: value.contentType ?? "" });
    },
  };
};
