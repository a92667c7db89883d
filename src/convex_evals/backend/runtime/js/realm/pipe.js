// Joining and splitting streams.
($) => {
  "use strict";
  const pump = async (reader, writer) => {
    for (;;) {
      await writer.ready;
      const { done, value } = await reader.read();
      if (done) return;
      writer.write(value).catch(() => {});
    }
  };

  const untilAborted = (signal) =>
    new Promise((_, reject) => {
      if (signal?.aborted) reject(signal.reason);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });

  return {
    async pipeTo(source, destination, { preventClose, preventAbort, preventCancel, signal }) {
      if (source.locked || destination.locked) throw new TypeError("Cannot pipe a locked stream");
      const reader = source.getReader();
      const writer = destination.getWriter();
      const failedWrite = new Promise((_, reject) => {
        writer.closed.catch(reject);
      });
      const aborted = untilAborted(signal);
      aborted.catch(() => {});
      failedWrite.catch(() => {});
      try {
        await Promise.race([pump(reader, writer), failedWrite, aborted]);
        if (!preventClose) await writer.close();
      } catch (error) {
        if (!preventAbort) await writer.abort(error).catch(() => {});
        if (!preventCancel) await reader.cancel(error).catch(() => {});
        throw error;
      } finally {
        reader.releaseLock();
        writer.releaseLock();
      }
    },

    tee(stream, ReadableStream) {
      const reader = stream.getReader();
      const controllers = [];
      const cancelled = [false, false];
      const reasons = [];
      const finished = Promise.withResolvers();
      let reading = false;

      const pull = async () => {
        if (reading) return;
        reading = true;
        try {
          const { done, value } = await reader.read();
          controllers.forEach((controller, index) => {
            if (cancelled[index]) return;
            if (done) controller.close();
            else controller.enqueue(value);
          });
        } catch (error) {
          for (const controller of controllers) controller.error(error);
        } finally {
          reading = false;
        }
      };

      const branch = (index) =>
        new ReadableStream({
          start(controller) {
            controllers[index] = controller;
          },
          pull,
          cancel(reason) {
            cancelled[index] = true;
            reasons[index] = reason;
            if (cancelled.every(Boolean)) finished.resolve(reader.cancel(reasons));
            return finished.promise;
          },
        });
      return [branch(0), branch(1)];
    },
  };
};
