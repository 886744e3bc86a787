# Targets for maintainers, in addition to the Makefile: `make -C tools TARGET` runs them in the folder above.
include Makefile
LISTED := tools/maintenance.mk
CALLED := make -C tools

.PHONY: lock
lock: .tools/uv-$(UV_VERSION)  ## Update the pinned versions
	@$(PYTHON) tools/lock.py $(LOCKS)
	@$(PYTHON) tools/environment_yml.py

.PHONY: metadata
metadata: .venv/.installed-run .venv/.installed-learning  ## Draw the graph of the rules (needs Graphviz)
	@$(BIN)/python tools/metadata.py

RESULTS ?= results

.PHONY: crate
crate: .venv/.installed-run  ## Write a Workflow Run RO-Crate of a finished run into its folder: RESULTS=results/quick
	@$(BIN)/python tools/metadata.py $(RESULTS) config/config.yaml $(if $(findstring quick,$(RESULTS)),config/quick.yaml)

.PHONY: reference
reference: .venv/.installed-run .venv/.installed-learning  ## Write the results of `make all` as the new reference
	@$(BIN)/shuffledp reference
	@$(SNAKEMAKE) runs --configfile config/quick.yaml --config learning=skip
	@$(BIN)/shuffledp reference --configfile config/quick.yaml

.PHONY: test-clients
test-clients: .venv/.installed-test  ## Compare up to 10^6 reports of every exported client with the law of its protocol, and run all clients end to end
	@SHUFFLEDP_MANY_REPORTS=1 $(SINGLE) $(BIN)/python -m pytest -rs tests/protocols/client

.PHONY: test-whole-run
test-whole-run: .venv/.installed-test  ## Run a tiny paper in many ways and all papers at small scale, and test a new paper and a new protocol
	@# One process more than there are cores, because these tests wait for what they started.
	@$(PYTEST) -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) -m whole_run tests/workflow tests/test_guides.py tests/test_new_files.py

.PHONY: test-slurm
test-slurm: .venv/.installed-test .venv/.installed-cluster  ## Run jobs by a separate Slurm on this machine (needs root, slurm-wlm and munge)
	@$(SINGLE) $(BIN)/python -m pytest -m slurm tests/workflow/test_slurm.py

.PHONY: test-storage
test-storage: .venv/.installed-test .venv/.installed-storage .venv/.installed-cluster  ## Run the workflow with a folder and an S3 server as storage, also by Slurm if installed (needs rsync; STORAGE_CONFIG=config/quick.yaml)
	@$(SINGLE) $(BIN)/python -m pytest -rs -m storage tests/workflow/test_storage.py

.PHONY: test-spark
test-spark: .venv/.installed-test .venv/.installed-spark  ## Run the documented SQL in Spark on this machine, and compare with `shuffledp count` (needs Java 17)
	@command -v java > /dev/null || { echo "Spark needs Java: apt-get install openjdk-17-jre-headless" >&2; exit 1; }
	@$(SINGLE) $(BIN)/python -m pytest -rs -m spark tests/userdata

.PHONY: faults
faults: .venv/.installed-test  ## Disturb a small run at 20 random moments (MOMENTS=5), restart it, and compare every byte
	@$(SINGLE) $(BIN)/python tools/faults.py $(if $(MOMENTS),--moments $(MOMENTS)) $(if $(SEED),--seed $(SEED)) \
	  $(if $(KINDS),--kinds $(KINDS)) $(if $(MINUTES),--minutes $(MINUTES))

.PHONY: test-pythons
test-pythons: .venv/.installed-test .tools/uv-$(UV_VERSION)  ## Run the unit tests on Python 3.12 and 3.13, and with the lowest versions (VERSIONS=lowest)
	@$(PYTHON) tools/other_pythons.py $(VERSIONS)

.PHONY: benchmarks
benchmarks: .venv/.installed-benchmarks .venv/.installed-learning  ## Measure times, memory and ratios with other packages (BENCH=Peers: those with this in their name)
	@$(BIN)/asv machine --yes
	@PATH=$(abspath $(BIN)):$$PATH $(SINGLE) $(BIN)/asv run --environment existing:$(abspath $(BIN))/python --show-stderr \
	  --set-commit-hash $$(git rev-parse HEAD) $(if $(BENCH),--bench $(BENCH))

.PHONY: conformance-seeds
conformance-seeds: .venv/.installed-test  ## Count rejections of built-in protocols by the conformance checks, with 200 seeds; may be interrupted
	@$(SINGLE) $(BIN)/python tools/conformance_seeds.py --page $(if $(SEEDS),--seeds $(SEEDS)) $(if $(MINUTES),--minutes $(MINUTES))

.PHONY: numerical-errors
numerical-errors: .venv/.installed-test  ## Compare the accounting with references in 50-digit arithmetic, for docs/numerics.md
	@$(PYTEST) --dist worksteal tests/references --all-settings --report tests/references/errors.csv $(if $(ONLY),-k "[$(ONLY)]")

.PHONY: comparison-rule
comparison-rule: .venv/.installed-test  ## Check a rule of thumb against `shuffledp compare` in 36 settings
	@$(SINGLE) $(BIN)/python tools/comparison_rule.py --page

.PHONY: property-tests
property-tests: .venv/.installed-test  ## Test hundreds of bad configurations and bad data files, for docs/measured/
	@$(SINGLE) $(BIN)/python tools/property_tests.py --page

.PHONY: bad-arguments
bad-arguments: .venv/.installed-test  ## Call every function of the accounting with bad and extreme arguments; slow
	@$(SINGLE) $(BIN)/python tools/bad_arguments.py --page

.PHONY: test-artifact
test-artifact: artifact  ## Unpack the artifact into an empty folder, and run the first commands of its appendix without a network
	@$(PYTHON) tools/artifact.py try

.PHONY: test-image
test-image: artifact  ## Build the image without a network on a new Debian system, and run .test/ in it (needs root, buildah and debootstrap)
	@tools/test_image.sh dist/shuffledp-*-artifact.tar

.PHONY: appendix
appendix: quick  ## Write docs/measured/claims.md, with the numbers and costs of make quick
	@$(BIN)/python tools/artifact.py appendix

.PHONY: appendix-check
appendix-check: .venv/.installed-run  ## Check that docs/measured/claims.md has the main claim of every paper
	@$(BIN)/python tools/artifact.py check

.PHONY: docs-check
docs-check: .venv/.installed-test docs  ## Check the built documentation: links, requests, formulas, search
	@$(SINGLE) $(BIN)/python -m pytest docs/checks

.PHONY: site-check
site-check: .venv/.installed-test  ## Check the site in results/, or in RESULTS=..: links, three widths, print, keyboard
	@RESULTS=$(RESULTS) $(SINGLE) $(BIN)/python -m pytest workflow/checks

.PHONY: gallery
gallery: .venv/.installed-run  ## Update docs/gallery/ with the papers' figures in results/ (after make all)
	@$(BIN)/python tools/gallery.py make

.PHONY: column-figures
column-figures: .venv/.installed-run  ## Redraw pictures of curves for a column of a two-column paper: RESULTS=results, ONLY=dump/fig5 (the first letters)
	@$(BIN)/python tools/column_figures.py $(RESULTS) $(ONLY)

.PHONY: tex-check
tex-check:  ## Compile all tables of a finished run with LaTeX: RESULTS=results/quick (needs texlive-latex-extra and lmodern)
	@find $(RESULTS)/figures -name '*.tex' | sort | sed 's|.*|\\input{$(CURDIR)/&}\\clearpage|' > $(RESULTS)/tables.list
	@printf '%s\n' '\documentclass{article}' '\usepackage{lmodern,tabularray,pdflscape}' '\UseTblrLibrary{booktabs}' \
	  '\begin{document}' "$$(cat $(RESULTS)/tables.list)" '\end{document}' > $(RESULTS)/tables.tex; rm $(RESULTS)/tables.list
	@pdflatex -halt-on-error -interaction=nonstopmode -output-directory $(RESULTS) $(RESULTS)/tables.tex > $(RESULTS)/tables.out \
	  || { tail -20 $(RESULTS)/tables.out; exit 1; }
	@echo "$(RESULTS)/tables.pdf has $$(grep -c clearpage $(RESULTS)/tables.tex) tables."

.PHONY: paper
paper: .venv/.installed-run .venv/.installed-paper  ## Build paper/paper.pdf from the results of a complete run with the studies (RESULTS=folder)
	@$(BIN)/python tools/paper.py $(RESULTS)

.PHONY: gallery-check
gallery-check: .venv/.installed-run  ## Check that docs/gallery/ is current
	@$(BIN)/python tools/gallery.py check

# Stored results of a run at the papers' scale, which are compared with a new run before a release.
RELEASE_CHECKS := verify docs-check gallery-check appendix-check

.PHONY: release-check
release-check: all  ## Repeat outdated runs before a release, and check that all stored results are current
	@failed=; for check in $(RELEASE_CHECKS); do $(MAKE) -f tools/maintenance.mk $$check || failed="$$failed $$check"; done; \
	  if [ -n "$$failed" ]; then echo "Not ready for a release:$$failed"; exit 1; fi

.PHONY: mutants
mutants: .venv/.installed-test .venv/.installed-learning .venv/.installed-mutants  ## Run 300 mutants of accounting, protocols and audit, each against the tests that reach its line
	@$(SINGLE) $(BIN)/python tools/mutants.py $(if $(NUMBER),--number $(NUMBER)) $(if $(SEED),--seed $(SEED)) --page

.PHONY: golden-pictures
golden-pictures: .venv/.installed-run  ## Compare pictures and pages of two runs: BEFORE=folder, AFTER=folder (results)
	@$(BIN)/python tools/golden_pictures.py $(or $(BEFORE),$(error give BEFORE=the folder of results before the change)) $(AFTER)

.PHONY: audit-seeds
audit-seeds: .venv/.installed-run  ## Audit every protocol with 100 seeds (results/audit/seeds/); may be interrupted
	@$(SINGLE) $(BIN)/python tools/audit_seeds.py --page

.PHONY: training-seeds
training-seeds: .venv/.installed-run  ## Compare the accuracies of the seeds of a run with training
	@$(BIN)/python tools/training_seeds.py --page

.PHONY: outside-auditors
outside-auditors: .venv/.installed-auditors  ## Run two outside auditors on the messages of few users, for docs/maintainers.md
	@$(SINGLE) $(BIN)/python tools/outside_auditors.py --page

# ---- noise designs (summation) -----------------------------------------------------------------------------
.PHONY: designs
designs: .venv/.installed-run  ## Repeat the search for the noise designs of summation; slow, may be interrupted
	@$(SINGLE) $(BIN)/python tools/designs.py search

.PHONY: designs-certify
designs-certify: .venv/.installed-run  ## Certify coarse designs of all sizes; minutes to hours, may be interrupted
	@$(SINGLE) $(BIN)/python tools/designs.py certify

.PHONY: designs-check
designs-check: .venv/.installed-run  ## Certify shipped noise designs, and check the certificates of large designs
	@$(SINGLE) $(BIN)/python tools/designs.py check

# ---- the user's data ------------------------------------------------------------------------------------------
.PHONY: test-data
test-data: .venv/.installed-test  ## Count all published data, and compare the counts with those of pandas (needs SHUFFLEDP_MIRROR)
	@SHUFFLEDP_WHOLE_DATA=1 $(SINGLE) $(BIN)/python -m pytest -rs -k published tests/userdata/test_engine.py
