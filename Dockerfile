# Two images from a clone: `--target serve` shows and takes scores, `--target worker` grades on a Ray cluster.
FROM debian:bookworm-slim AS base
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home evals
COPY . /opt/convex-evals
# The same hashed lock file as in a clone; uv's cache would double the size.
RUN UV_NO_CACHE=1 sh /opt/convex-evals/scripts/bootstrap /opt/convex-evals && rm -rf /opt/convex-evals/.venv.tools
ENV PATH=/opt/convex-evals/.venv/bin:$PATH
WORKDIR /home/evals

FROM base AS serve
RUN mkdir /scores && chown evals /scores
USER evals
VOLUME /scores
EXPOSE 8484
ENTRYPOINT ["convex-evals"]
CMD ["serve", "--host", "0.0.0.0", "--read", "token", "--scores", "/scores/scores.db"]

FROM base AS worker
RUN uv pip install --no-cache --quiet --python /opt/convex-evals/.venv/bin/python --require-hashes \
    --requirement /opt/convex-evals/requirements-ray.lock
USER evals
# Grades one reference answer, so that the JavaScript tools are in the image. A build cannot confine it; nothing
# of a model runs here.
RUN convex-evals validate --filter empty_functions --sandbox none --scores /tmp/scores.db && rm -r /tmp/scores.db*
ENV RAY_USAGE_STATS_ENABLED=0
ENTRYPOINT ["ray", "start", "--block"]
CMD ["--head"]
