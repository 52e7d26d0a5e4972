# mannequin. Two commands matter: make demo, make test. Both set the machine up.
.POSIX:
.PHONY: help demo web test-web showreel test test-samebits test-cluster test-engines dist check build build-cuda build-webgpu cuda test-cuda test-webgpu simd128 test-simd128 setup bench bench-peer fuzz vet golden hour soak clean

GO = go
# Everything that games and servers link, and the tools: no C compiler needed.
PURE = $$($(GO) list -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' ./... | grep -v -e /engine/stage -e /engine/g3n -e /engine/offscreen -e /engine/internal -e /scenes/show -e /cmd/demo -e /cmd/libmannequin$$ -e /examples/g3n-game -e /examples/characters)

help:
	@echo 'make demo    a dog that you steer and a herd; without a display, a video in out/'
	@echo 'make showreel  a short video and a contact sheet of each gait and action, in out/showreel'
	@echo 'make web     the scenes for a browser, into out/web; bin/mannequin serve shows them'
	@echo 'make test    vet, staticcheck and every test, and those where goroutines meet with the race detector'
	@echo 'make check   vet and staticcheck alone'
	@echo 'make test-web  the page in a browser; installs chromium where it is missing'
	@echo 'make build   the two programs, into bin/'
	@echo 'make build-cuda  the same, able to run networks on an NVIDIA GPU where there is one'
	@echo 'make build-webgpu  the same, able to run networks on any GPU with a Vulkan driver'
	@echo 'make cuda    compile the CUDA kernels where their sources have changed'
	@echo 'make test-webgpu  the networks through Vulkan; installs a software driver where there is none'
	@echo 'make test-samebits  compare the dog with programs for arm64 and WebAssembly; SCENES=. all scenes'
	@echo 'make test-cluster  several processes: MPI, Slurm, NATS and a proxy, which it installs where they are missing'
	@echo 'make dist    the library for C, engines and JavaScript, for Linux, Windows and browsers, into out/dist; fetches compilers'
	@echo 'make test-engines  the long tests of that library: ten million calls, ten minutes of 1,000 agents, checked memory; Godot, Mono and node, which it installs'
	@echo 'make simd128  compile the kernels for browsers where their source has changed'
	@echo 'make bench   benchmarks'
	@echo 'make bench-peer  ONNX Runtime beside us; fetches its library through npm'
	@echo 'make fuzz    fuzz every parser, FUZZTIME (default 30s) each; counts in docs/fuzz.tsv'
	@echo 'make golden  render the golden pictures and those in docs/ anew, after a change of looks'
	@echo 'make hour    the long runs: one simulated hour'
	@echo 'make soak    random work for SOAK (default 1h) while disks fail: nothing may grow'
	@echo 'make clean   remove bin/ and out/'

setup:
	@sh scripts/setup.sh

build: setup
	$(GO) build -o bin/ ./cmd/demo ./cmd/mannequin

# Flags that build the tag cuda without a CUDA toolkit.
CUDA = eval "$$(sh netruntime/cuda/driver/env.sh)"

build-cuda: setup
	$(CUDA) && $(GO) build -tags cuda -o bin/ ./cmd/demo ./cmd/mannequin

# The library's calls of libdl do not pass the C linker, which programs with C code use otherwise.
build-webgpu: setup
	$(GO) build -tags webgpu -ldflags=-linkmode=internal -o bin/ ./cmd/demo ./cmd/mannequin

# Flags of a program that has both, beside those of CUDA.
BOTH = -tags cuda,webgpu -ldflags=-linkmode=internal

cuda:
	@sh scripts/cuda-kernels.sh

simd128:
	@sh scripts/simd128.sh

demo: build
	bin/demo

web: build
	@GO=$(GO) sh scripts/web.sh

# A part of make test where there is a Chromium.
test-web:
	@sh scripts/setup.sh web
	MANNEQUIN_WEB=1 $(GO) test -count=1 -v ./cmd/web
	MANNEQUIN_WEB=1 $(GO) test -count=1 -v -timeout 30m -run Browser ./netruntime/webgpu

# REEL takes flags: make showreel REEL='--model dog-free --only walk,sit'.
showreel: build
	bin/demo reel $(REEL)

check: setup
	$(GO) vet ./...
	GOOS=js GOARCH=wasm $(GO) vet -tags simd128,webgpu ./cmd/web ./engine/stage/... ./netruntime ./netruntime/internal/...
	GOOS=wasip1 GOARCH=wasm $(GO) vet -tags simd128 ./cmd/libmannequin ./netruntime/internal/kernel
	$(GO) vet -tags webgpu ./netruntime/... ./internal/backend ./animsys ./animsys/mann ./animsys/resident ./engine/g3n ./scenes/crowd ./scenes/herd ./scenes/show ./cmd/demo ./cmd/mannequin/...
	$(GO) tool staticcheck ./...

# check has vetted the tests.
test: check
	CGO_ENABLED=0 $(GO) build $(PURE)
	$(GO) test -vet=off ./...
	$(GO) test -vet=off -race -timeout 30m $$(sh scripts/race.sh)
	$(GO) test -vet=off -tags noasm ./netruntime/... ./internal/testing/authors ./offline/train
	$(TEST_WEBGPU)
	@$(MAKE) test-cuda test-simd128

# Without a GPU: the kernels' PTX, interpreted, and the kernels compiled for the processor, on a driver of our own.
# go does not look into their sources to see whether a result is stale: -count=1.
test-cuda: setup
	$(CUDA) && $(GO) build -tags cuda ./cmd/demo ./cmd/mannequin
	sh scripts/cuda-kernels.sh --check
	$(CUDA) && $(GO) vet -tags cuda ./netruntime/... ./internal/testing/fakecuda ./animsys ./cmd/mannequin/... && \
	FAKE_CUDA_PTX=1 $(GO) test -count=1 -tags cuda -run 'Tiles|SkipBelow|Gating' ./netruntime/cuda && FAKE_CUDA_PTX=1 $(GO) test -count=1 -tags cuda -run 'CUDAAgainst|CUDABad' ./netruntime && \
	$(GO) test -count=1 -race -tags cuda ./netruntime/cuda && $(GO) test -count=1 -race -tags cuda -run CUDA ./netruntime && $(GO) test -count=1 -tags cuda -run CUDA ./cmd/mannequin/internal/bench ./animsys
	$(CUDA) && $(GO) tool staticcheck -tags cuda ./netruntime/... ./internal/testing/fakecuda
	$(CUDA) && $(GO) build $(BOTH) -o /dev/null ./cmd/demo && $(GO) test -count=1 $(BOTH) -run BothBackends ./cmd/mannequin/internal/bench

# Tests that say so and end where there is no GPU, and no software driver of one.
TEST_WEBGPU = $(GO) test -vet=off -count=1 -tags webgpu ./netruntime/webgpu ./animsys/resident && $(GO) test -vet=off -count=1 -tags webgpu -run Shader ./animsys/mann && $(GO) test -vet=off -count=1 -tags webgpu -ldflags=-linkmode=internal -run Resident ./engine/g3n ./scenes/show && $(GO) test -vet=off -count=1 -tags webgpu -ldflags=-linkmode=internal -run GPU ./scenes/crowd ./scenes/herd ./cmd/demo && $(GO) test -vet=off -count=1 -tags webgpu -run WebGPU ./netruntime ./animsys ./cmd/mannequin/internal/bench

test-webgpu: setup
	@sh scripts/setup.sh webgpu
	CGO_ENABLED=0 $(GO) build -tags webgpu -o /dev/null ./cmd/mannequin
	$(GO) build -tags webgpu -ldflags=-linkmode=internal -o /dev/null ./cmd/demo
	$(GO) vet -tags webgpu ./netruntime/... ./internal/backend ./animsys ./animsys/mann ./animsys/resident ./engine/g3n ./scenes/crowd ./scenes/herd ./scenes/show ./cmd/demo ./cmd/mannequin/...
	$(GO) tool staticcheck -tags webgpu ./netruntime/... ./internal/backend ./animsys/mann ./animsys/resident ./engine/g3n ./scenes/crowd ./scenes/herd ./scenes/show ./cmd/mannequin/internal/bench
	$(TEST_WEBGPU)
	CGO_ENABLED=0 $(GO) test -vet=off -count=1 -tags webgpu ./netruntime/webgpu
	$(GO) test -vet=off -count=1 -race -tags webgpu ./netruntime/webgpu

# Several processes that train together, some of which are killed.
test-cluster: setup
	@sh scripts/setup.sh cluster
	$(GO) vet -tags mpi ./offline/train/... ./cmd/mannequin/internal/train
	$(GO) test -count=1 -timeout 30m -tags mpi -run Ranks -v ./offline/train/... ./cmd/mannequin/internal/train
	MANNEQUIN_KILLS=200 MANNEQUIN_CLIPS=1000 $(GO) test -count=1 -timeout 30m -run 'Server|Kill' -v ./offline/queue ./cmd/mannequin/internal/queue
	$(GO) test -count=1 -run Proxy -v ./netruntime/remote

dist:
	@sh scripts/setup.sh dist
	@GO=$(GO) sh scripts/dist.sh

# An hour or more. A part of make test without the variables.
test-engines:
	@sh scripts/setup.sh engines
	MANNEQUIN_ENGINES=1 MANNEQUIN_CALLS=10000000 MANNEQUIN_SECONDS=600 MANNEQUIN_AGENTS=1000 $(GO) test -count=1 -timeout 0 -v ./cmd/libmannequin/... ./bindings/...
	sh scripts/dist.sh --check

# The kernels for browsers, in node where there is one. test-web runs them in a browser.
test-samebits:
	@sh scripts/samebits.sh $(SCENES)

test-simd128:
	sh scripts/simd128.sh --check
	@sh scripts/simd128.sh --test

bench: setup
	$(GO) test -run '^$$' -bench . -benchmem ./...

# PEER takes flags of cmd/benchpeer.
bench-peer: setup
	@ORT_LIB=$$(sh scripts/onnxruntime.sh) && export ORT_LIB && \
	$(GO) test -tags ort ./offline/onnx ./cmd/benchpeer && \
	$(GO) run -tags ort ./cmd/benchpeer $(PEER)

fuzz: setup
	@sh scripts/fuzz.sh $${FUZZTIME:-30s}

# Look at what git diff shows before you commit it.
golden: build
	$(GO) test ./engine/stage ./examples/g3n-game ./examples/characters -run 'Golden$$' -update
	sh scripts/pictures.sh

hour: setup
	MANNEQUIN_HOUR=1 $(GO) test -run Hour -v -timeout 60m ./animsys/...

soak: setup
	MANNEQUIN_SOAK=$${SOAK:-1h} $(GO) test -run Soak -count=1 -v -timeout 0 ./internal/testing/soak

clean:
	rm -rf bin out
