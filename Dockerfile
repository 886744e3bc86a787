# The pipeline with the versions of locks/run.txt, for a user without root. `make image` builds it (docs/installation.md).
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN python3.11 -m pip --version && git --version && make --version || \
    { apt-get update && \
      apt-get install --yes --no-install-recommends ca-certificates git make python3-pip python3.11 && \
      rm -rf /var/lib/apt/lists/*; }
RUN useradd --create-home --home-dir /shuffledp shuffledp
WORKDIR /shuffledp
COPY --chown=shuffledp . .
USER shuffledp
# The artifact for evaluations has all packages in wheels/; nothing is downloaded then.
RUN if [ -d wheels ]; then export PIP_NO_INDEX=1 PIP_FIND_LINKS="$PWD/wheels"; \
      export UV_OFFLINE=1 UV_NO_INDEX=1 UV_FIND_LINKS="$PWD/wheels"; fi; \
    make env && rm -rf wheels
ENV PATH="/shuffledp/.venv/bin:$PATH" OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
CMD ["snakemake", "--cores", "all"]
