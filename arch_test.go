package mannequin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// arrow is one row of the import policy: what the packages that match from may
// import beside the standard library. Patterns are relative to the module for
// our own packages and whole paths for others; a trailing /... matches a path
// and everything below it.
type arrow struct {
	from string
	may  []string
	why  string
}

// The first row that matches a package rules it.
var arrows = []arrow{
	{"engine/m3", nil, "arithmetic stands on nothing"},
	{"engine/clock", nil, "time is arithmetic"},
	{"engine/tape", nil, "bytes in, bytes out"},
	{"engine/body", []string{"engine/m3"}, "meshes made from a skeleton, without GL"},
	{"engine/draw", []string{"engine/m3", "golang.org/x/image/..."}, "pictures on the CPU, without GL"},
	{"engine/media", []string{"internal/atomicfile"}, "frames in, files out"},
	{"engine/hud", []string{"engine/m3"}, "panels, overlays, lines and graphs: plain data that scenes fill in and the stage draws"},
	{"engine/internal/gl", []string{"github.com/go-gl/..."}, "OpenGL and WebGL2 under one set of names"},
	{"engine/internal/compute", []string{"engine/internal/gl", "github.com/go-gl/..."}, "compute shaders of OpenGL 4.3: apart, so that only who wants them links them"},
	{"engine/internal/egl", []string{"engine/internal/gl", "github.com/g3n/engine/gls"}, "OpenGL without a window"},
	{"engine/internal/gpu", []string{"engine/internal/gl", "github.com/g3n/engine/..."}, "vertex buffers, textures and framebuffers for g3n's renderer"},
	{"engine/internal/instanced", []string{"engine/body", "engine/internal/gl", "engine/internal/gpu", "engine/m3", "github.com/g3n/engine/..."},
		"the one way to draw a crowd, for the stage and for other scenes"},
	{"engine/offscreen", []string{"engine/internal/egl", "engine/internal/gl", "engine/internal/gpu", "github.com/g3n/engine/..."}, "pictures of any g3n scene"},
	{"engine/g3n", []string{"engine/body", "engine/internal/compute", "engine/internal/gl", "engine/internal/gpu", "engine/internal/instanced", "engine/m3", "github.com/g3n/engine/..."},
		"a crowd in a scene, a window and a GL context that are not ours"},
	{"engine/stage", []string{"engine/body", "engine/draw", "engine/hud", "engine/m3", "engine/internal/...", "internal/boundedfile",
		"github.com/g3n/engine/...", "github.com/go-gl/..."},
		"the only package that opens a window; it draws plain data and knows no scene"},

	{"animsys/retarget", []string{"animsys/skel", "engine/m3", "ik", "internal/statehash"}, "motion on characters with their own bones; roles of legs are ik's; saves know characters by a hash"},
	{"animsys/skin", []string{"engine/body", "engine/m3", "animsys/skel", "animsys/anatomy", "animsys/retarget", "ik", "internal/affine", "internal/atomicfile", "internal/boundedfile", "internal/boundedtoml", "internal/meshopt", "github.com/qmuntal/gltf/...", "golang.org/x/image/webp"},
		"meshes from files, put on skeletons, and motions into files, without GL; glTF is the format, TOML is how people write which joint is which"},
	{"internal/statehash", []string{"engine/m3"}, "a leaf: sums of a world's state"},
	{"internal/meshopt", nil, "a leaf: compressed buffers of glTF files"},
	{"internal/atomicfile", nil, "a leaf"},
	{"internal/affine", []string{"engine/m3"}, "a leaf: transforms of files' nodes, in float64"},
	{"internal/boundedfile", nil, "a leaf"},
	{"internal/boundedtoml", []string{"internal/closest", "github.com/BurntSushi/toml"}, "a leaf"},
	{"internal/closest", nil, "a leaf: the name that a mistyped one may mean"},
	{"internal/command", []string{"internal/closest", "github.com/spf13/cobra", "github.com/spf13/pflag"}, "for the programs"},
	{"internal/backend", []string{"netruntime", "netruntime/cuda", "netruntime/webgpu"}, "for the programs: what computes networks, by name"},

	{"internal/bench/benchnet", []string{"netruntime"}, "the networks that the benchmarks time"},
	{"internal/cellgrid", []string{"engine/m3"}, "which obstacles and decks are near a place"},
	{"internal/bench/ort", []string{"github.com/yalue/onnxruntime_go"}, "ONNX Runtime, behind the build tag ort"},
	{"internal/bench/openblas", nil, "OpenBLAS, behind the build tag openblas"},
	{"internal/testing/testcharacter", []string{"animsys/retarget", "animsys/skel", "engine/m3", "ik", "internal/testing/must"}, "for tests: characters with bones of their own"},
	{"internal/testing/mocapdata", []string{"internal/testing/must"}, "for tests: where recordings are"},
	{"internal/testing/authors", []string{"animsys/feature", "netruntime", "internal/boundedfile", "internal/testing/testnet", "github.com/sbinet/npyio/..."},
		"for tests: the weight files of the 2016 and 2018 authors; npz is how those of 2016 are stored"},
	{"internal/testing/testlatent", []string{"animsys/feature", "animsys/latent", "netruntime", "models/...", "internal/testing/must", "internal/testing/testgen", "internal/testing/testnet"}, "for tests: a made-up autoencoder of clips, and the shipped one"},
	{"internal/testing/teststrnn", []string{"animsys/feature", "animsys/strnn", "netruntime", "models/human", "internal/testing/must", "internal/testing/testgen", "internal/testing/testnet"}, "for tests: a made-up predictor of people's motion"},
	{"internal/testing/testmatching", []string{"animsys/control", "animsys/feature", "animsys/generator", "animsys/mann", "animsys/matching", "animsys/skel", "engine/m3", "internal/testing/must", "internal/testing/testgen", "internal/testing/testnet", "netruntime", "offline/procgen", "offline/procgen/human"}, "for tests: databases of motion that rules make, and networks"},
	{"internal/testing/testgen", []string{"animsys/feature", "animsys/generator", "engine/m3", "netruntime"}, "for tests: plays a generator without a crowd"},
	{"internal/testing/ptx", nil, "for tests: runs the PTX of CUDA kernels on the processor"},
	{"internal/testing/ranks", nil, "for tests: processes that train together, as goroutines"},
	{"internal/testing/testh36m", nil, "for tests: a made-up walk as Human3.6M's exponential maps"},
	{"internal/testing/testdog", []string{"animsys/...", "engine/m3", "netruntime", "internal/testing/must", "internal/testing/testnet"}, "for tests: a made-up dog"},
	{"internal/testing/testnet", []string{"netruntime"}, "for tests: tensors of networks"},
	{"internal/testing/extreme", nil, "for tests: values full of numbers that break things"},
	{"internal/testing/growth", nil, "for tests: what a reader allocates for an input that grows"},
	{"internal/testing/apidrive", []string{"animsys/...", "ecs", "ik", "terrain", "engine/m3", "models/...", "netruntime", "internal/testing/...", "github.com/mlange-42/arche/..."},
		"for tests and soaks: calls of the API of worlds at random"},
	{"internal/testing/golden", []string{"internal/atomicfile", "internal/testing/must"}, "for tests: stored pictures"},
	{"internal/testing/testlib", []string{"internal/testing/must"}, "for tests: the C library, and programs that use it"},
	{"internal/testing/testbrowser", []string{"internal/testing/must", "github.com/chromedp/..."}, "for tests: pages in Chromium"},
	{"internal/testing/must", nil, "for tests: values without errors"},
	{"internal/testing/race", nil, "for tests: whether the race detector is on"},
	{"internal/testing/soak", nil, "a test alone: hours of work while disks fail"},
	{"internal/testing/fakecuda", []string{"internal/testing/ptx"}, "for tests: a GPU's driver without a GPU"},

	{"internal/testing/testcli", []string{"animsys/...", "engine/m3", "netruntime", "internal/...", "offline/...", "github.com/spf13/cobra", "github.com/spf13/pflag"},
		"for tests: command lines, and what they read"},

	{"netruntime/internal/pool", nil, "a leaf: loops on parked workers"},
	{"netruntime/internal/kernel", []string{"netruntime/internal/pool", "golang.org/x/sys/cpu"}, "the bottom of the network engine"},
	{"netruntime/vec", []string{"netruntime/internal/kernel"}, "the kernels on vectors, for motion code"},
	{"netruntime", []string{"netruntime/internal/...", "netruntime/vec", "internal/boundedfile"}, "networks know numbers, not characters"},
	{"netruntime/internal/program", []string{"netruntime"}, "networks as launches of kernels, for every kind of GPU"},
	{"netruntime/internal/reserve", []string{"netruntime"}, "sessions elsewhere, with the processor in reserve"},
	{"netruntime/cuda/driver", nil, "the CUDA driver's functions, in C"},
	{"netruntime/cuda", []string{"netruntime", "netruntime/cuda/driver", "netruntime/internal/program", "netruntime/internal/reserve", "gorgonia.org/cu"}, "the only package that touches CUDA, behind the build tag cuda"},
	{"netruntime/webgpu", []string{"netruntime", "netruntime/internal/pool", "netruntime/internal/program", "netruntime/internal/reserve", "github.com/gogpu/wgpu/...", "github.com/gogpu/gputypes", "github.com/gogpu/naga/...", "github.com/go-webgpu/goffi/..."}, "the only package that touches WebGPU, behind the build tag webgpu, and that compiles its kernels for OpenGL"},
	{"netruntime/remote/internal/inference", []string{"netruntime", "google.golang.org/grpc/encoding/...", "google.golang.org/grpc/mem", "google.golang.org/protobuf/encoding/protowire"},
		"the protocol's messages, as bytes"},
	{"netruntime/remote/internal/inference/inferencepb", []string{"google.golang.org/protobuf/..."}, "generated: the protocol's messages"},
	{"netruntime/remote/server", []string{"netruntime", "netruntime/remote/internal/...", "google.golang.org/grpc/...", "github.com/prometheus/client_golang/prometheus/..."},
		"for programs that compute networks for others: not for games"},
	{"netruntime/remote", []string{"netruntime", "netruntime/internal/reserve", "netruntime/remote/internal/inference", "google.golang.org/grpc/..."}, "the only package that links gRPC into a game"},
	{"netruntime/grad", []string{"netruntime", "netruntime/internal/kernel"}, "the same kernels, backwards"},

	{"ik", []string{"engine/m3"}, "a leaf: rotations and points"},
	{"terrain", []string{"engine/m3", "internal/cellgrid"}, "height fields and decks"},
	{"animsys/skel", []string{"engine/m3"}, "a leaf: skeletons and clips"},
	{"animsys/anatomy", []string{"animsys/skel", "engine/m3"}, "a leaf: which joints play which part, for motions and for meshes"},
	{"animsys/feature", []string{"animsys/skel", "ik", "engine/m3"}, "one schema for builders and runtime, and the skeleton that its frames pose"},
	{"animsys/generator", []string{"animsys/control", "animsys/feature", "animsys/skel", "ik", "engine/m3", "internal/statehash"}, "the contract between a crowd and what makes motion: no ECS"},
	{"animsys/snapshot", []string{"animsys/skel", "engine/m3"}, "poses as bytes: no sockets, which are the game's"},
	{"animsys/control", []string{"engine/m3", "internal/cellgrid", "internal/boundedfile", "internal/boundedtoml", "internal/closest"}, "goals and paths; TOML is how people write them"},
	{"animsys/blend", []string{"animsys/generator", "animsys/internal/kernels", "engine/m3"}, "a leaf, and saved states; also as a kernel"},
	{"animsys/internal/kernels", nil, "text: what kernels for a GPU have in common"},
	{"animsys/matching", []string{"animsys/skel", "animsys/feature", "animsys/generator", "animsys/control", "animsys/internal/kernels", "animsys/mann", "animsys/retarget", "ik", "engine/m3", "netruntime", "netruntime/vec", "internal/boundedfile", "internal/statehash"},
		"recorded motion, the kernels that compare it, and the networks that have learned it"},
	{"animsys/layer", []string{"animsys/skel", "animsys/blend", "animsys/generator", "animsys/retarget", "engine/m3"}, "clips over poses, whoever made them, of characters' own bones, too; rows with a state"},
	{"animsys/mann", []string{"animsys/skel", "animsys/feature", "animsys/generator", "animsys/control", "animsys/internal/kernels", "ik", "engine/m3", "netruntime"}, "a system: leaves and the network"},
	{"animsys/resident", []string{"animsys/mann", "animsys/matching", "animsys/blend", "animsys/skel", "animsys/feature", "animsys/generator", "animsys/control", "animsys/internal/kernels", "ik", "terrain", "engine/body", "engine/m3", "netruntime", "netruntime/webgpu"},
		"agents on a GPU: the kernels of mann, matching and blend, and those that stand poses on a field and skin meshes"},
	{"ecs", []string{"engine/m3", "github.com/mlange-42/..."}, "components: plain data and Arche"},
	{"animsys/manifold", []string{"animsys/skel", "animsys/feature", "animsys/generator", "animsys/control", "animsys/internal/linsolve", "ik", "engine/m3", "netruntime", "netruntime/grad", "netruntime/vec", "internal/boundedfile"},
		"a system: leaves, the network, and the tape that edits through it"},
	{"animsys/internal/linsolve", nil, "small systems of equations"},
	{"animsys/internal/windows", []string{"animsys/feature", "animsys/generator", "netruntime"}, "when windows of motion start, and their worker"},
	{"animsys/latent", []string{"animsys/feature", "animsys/generator", "animsys/internal/linsolve", "animsys/internal/windows", "ik", "engine/m3", "netruntime", "gonum.org/..."}, "a system: leaves and the network"},
	{"animsys/strnn", []string{"animsys/feature", "animsys/generator", "animsys/internal/linsolve", "animsys/internal/windows", "ik", "engine/m3", "netruntime", "netruntime/grad", "netruntime/vec"},
		"a system: leaves, the network, and the tape that tunes it"},
	{"animsys/mar", []string{"animsys/skel", "animsys/generator", "engine/m3", "netruntime", "netruntime/vec", "internal/boundedfile", "gonum.org/v1/gonum/mat"},
		"a system: leaves, and the kernels for sums over degrees of freedom"},
	{"animsys/keypose", []string{"animsys/skel", "animsys/feature", "animsys/generator", "animsys/internal/windows", "ik", "engine/m3", "netruntime"}, "a system: leaves, the network, and legs that hold feet"},
	{"animsys/keypose/routines", []string{"animsys/keypose", "ik", "engine/m3"}, "poses written with inverse kinematics, which become keys"},
	{"animsys", []string{"internal/statehash", "ecs", "ik", "netruntime", "animsys/...", "engine/m3", "github.com/mlange-42/...", "github.com/zeebo/xxh3"}, "glue only, and saves"},

	{"models", []string{"models/...", "animsys/matching", "netruntime", "internal/closest"}, "shipped models and characters by name"},
	{"models/fox", []string{"animsys/matching"}, "networks of a character, and its card"},
	{"models/hero", []string{"animsys/matching"}, "networks of a character, and its card"},
	{"models/horse", []string{"animsys/matching"}, "networks of a character, and its card"},
	{"models/spider", []string{"animsys/matching"}, "networks of a character, and its card"},
	{"models/styles-free", []string{"animsys/mar"}, "takes and their card: data, not weights"},
	{"models/person", []string{"models/...", "animsys/manifold"}, "the three networks of people, as one asset"},
	{"models/styles-gram", []string{"animsys/manifold"}, "linear maps of hidden values and their card"},
	{"models/...", []string{"netruntime"}, "weights and their card"},
	{"scenes", []string{"animsys/generator", "engine/hud", "engine/m3", "ik", "terrain", "animsys/skel"}, "what to draw, and which of its joints are legs, without GL"},
	{"scenes/show", []string{"engine/body", "engine/clock", "engine/hud", "engine/m3", "engine/stage", "scenes", "terrain", "animsys/retarget", "animsys/skel", "animsys/skin"}, "scenes on a stage: the only one of scenes that needs GL"},
	{"scenes/cutscene/script", []string{"animsys/control", "engine/m3", "internal/boundedfile", "internal/boundedtoml", "internal/closest"}, "what cutscenes are written in: TOML, and nothing animated"},
	{"scenes/...", []string{"scenes/...", "ecs", "animsys", "animsys/...", "terrain", "ik", "engine/hud", "engine/m3", "netruntime", "internal/statehash", "internal/closest", "github.com/mlange-42/..."},
		"a scene runs headless, in tests and on a server"},

	{"offline/metrics", []string{"offline/...", "animsys", "animsys/...", "ecs", "terrain", "engine/m3", "engine/draw", "netruntime", "github.com/mlange-42/..."},
		"what is measured is what a game shows: the whole tick"},
	{"offline/certify", []string{"animsys", "animsys/...", "ecs", "engine/m3", "ik", "offline/mocap", "github.com/mlange-42/..."}, "what is judged is what a game shows: test motions of whole ticks, through files and back"},
	{"offline/augment", []string{"animsys", "animsys/...", "ecs", "engine/m3", "ik", "offline/clipset", "offline/dataset", "github.com/mlange-42/..."}, "motion to learn from is that of whole ticks, as games show it"},
	{"offline/eval", nil, "a leaf: bars, tables and progress of evaluations"},
	{"offline/eval/figure", []string{"animsys/skel", "engine/draw", "engine/m3", "internal/atomicfile"}, "drawings of motion, on the CPU"},
	{"offline/eval/controller", []string{"animsys", "animsys/...", "ecs", "engine/m3", "ik", "netruntime", "github.com/mlange-42/..."}, "characters are measured in whole ticks, as a game plays them"},
	{"offline/eval/...", []string{"offline/...", "animsys/...", "engine/draw", "engine/m3", "ik", "models", "netruntime", "gonum.org/..."},
		"networks are measured by name, without a command line"},
	{"offline/queue", []string{"internal/atomicfile", "internal/boundedfile", "github.com/nats-io/nats.go/..."}, "command lines, files and a server of jobs: nothing animated"},
	{"offline/...", []string{"offline/...", "animsys/...", "engine/m3", "ik", "netruntime/...", "internal/...", "gonum.org/...", "github.com/BurntSushi/toml", "github.com/qmuntal/gltf/...", "google.golang.org/protobuf/encoding/protowire"},
		"the workshop may use the runtime, never the other way"},

	{"examples/characters", []string{"animsys", "animsys/...", "ecs", "engine/body", "engine/g3n", "engine/m3", "engine/media", "engine/offscreen", "ik", "models/...",
		"github.com/g3n/engine/...", "github.com/mlange-42/..."}, "somebody's own characters, in g3n's scene"},
	{"examples/g3n-game", []string{"animsys", "animsys/control", "animsys/manifold", "animsys/mann", "ecs", "engine/body", "engine/clock", "engine/g3n", "engine/m3", "ik", "models/...",
		"github.com/g3n/engine/...", "github.com/mlange-42/..."}, "somebody else's game: it opens its own window"},
	{"examples/shards", []string{"animsys", "animsys/control", "animsys/matching", "ecs", "engine/m3", "ik", "models", "github.com/mlange-42/arche/...", "github.com/nats-io/nats.go", "github.com/zeebo/xxh3"},
		"one world in several processes, which talk through a server"},
	{"examples/...", []string{"animsys/...", "ecs", "engine/draw", "engine/m3", "engine/media", "ik", "models/...", "github.com/mlange-42/..."},
		"what a game writes: public packages alone"},

	{"bindings/...", nil, "tests alone: what the C library is for programs in other languages"},

	{"cmd/demo", []string{"scenes/...", "animsys/resident", "animsys/matching", "animsys/skel", "animsys/skin", "engine/...", "models/...", "internal/...", "offline/character", "offline/mocap", "offline/procgen/human", "github.com/spf13/cobra", "golang.org/x/..."},
		"scenes in a window, in whose OpenGL dogs may live; what is made in one is written as BVH, characters are read in all formats, and one is made by rules"},
	{"cmd/web", []string{"scenes", "scenes/open", "scenes/show", "engine/clock", "engine/hud", "engine/m3", "engine/stage", "netruntime", "netruntime/webgpu", "animsys/mar", "animsys/manifold", "animsys/matching", "offline/mocap"},
		"scenes in a browser; weights are fetched, so that none are linked"},
	{"cmd/libmannequin", []string{"animsys", "animsys/layer", "cmd/libmannequin/internal/api", "engine/m3", "terrain"}, "C's structs and pointers; the rest is in internal/api"},
	{"cmd/libmannequin/internal/api", []string{"animsys", "animsys/...", "ecs", "engine/clock", "engine/m3", "ik", "netruntime", "terrain", "github.com/mlange-42/arche/..."},
		"what a host in another language can do: worlds and crowds by id; models are the host's, so that none are linked"},
	{"cmd/benchpeer", []string{"offline/onnx", "internal/...", "netruntime", "github.com/spf13/cobra"}, "ONNX Runtime beside us, behind the build tag ort"},
	{"cmd/mannequin", []string{"cmd/mannequin/internal/...", "internal/command", "github.com/spf13/cobra"}, "one folder of commands by noun"},
	{"cmd/mannequin/internal/cli", []string{"internal/...", "github.com/spf13/cobra", "github.com/schollz/progressbar/...", "golang.org/x/term"},
		"flags, reports and progress: nothing animated"},
	{"cmd/mannequin/internal/queue", []string{"cmd/mannequin/internal/cli", "offline/queue", "internal/command", "github.com/mattn/go-shellwords", "github.com/spf13/cobra"},
		"jobs are command lines, which a library of shells splits"},
	{"cmd/mannequin/internal/sweep", []string{"cmd/mannequin/internal/cli", "offline/chart", "internal/...", "github.com/mattn/go-shellwords", "github.com/spf13/cobra"},
		"runs are command lines, too"},
	{"cmd/mannequin/internal/...", []string{"cmd/mannequin/internal/...", "offline/...", "animsys/...", "ecs", "scenes/...", "ik", "netruntime/...", "models/...", "terrain", "engine/m3", "engine/body", "engine/draw", "engine/media", "internal/...",
		"github.com/spf13/cobra", "github.com/schollz/progressbar/..."},
		"the tools: everything but the window"},
}

const module = "mannequin"

func matches(pattern, pkg string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	return pattern == pkg
}

func TestImports(t *testing.T) {
	type pkg struct {
		ImportPath string
		Standard   bool
		Imports    []string
	}
	// As they are here, as they are in a browser and in its library, and with each optional part.
	var out []byte
	for _, build := range []struct {
		tags string
		env  []string
	}{{}, {tags: "webgpu", env: []string{"GOOS=js", "GOARCH=wasm"}}, {env: []string{"GOOS=wasip1", "GOARCH=wasm"}}, {tags: "cuda,webgpu,ort,openblas,mpi"}} {
		list := exec.Command("go", "list", "-e", "-tags", build.tags, "-json=ImportPath,Standard,Imports", "-deps", "./...")
		list.Env = append(os.Environ(), build.env...)
		b, err := list.Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				t.Fatalf("go list: %v\n%s", err, exit.Stderr)
			}
			t.Fatal(err)
		}
		out = append(out, b...)
	}
	standard := map[string]bool{"C": true, "unsafe": true}
	var ours []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch {
		case p.Standard:
			standard[p.ImportPath] = true
		case p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/"):
			ours = append(ours, p)
		}
	}
	if len(ours) < 5 {
		t.Fatalf("go list found only %d of our packages", len(ours))
	}
	used := make([]bool, len(arrows))
	imported := make([][]bool, len(arrows)) // by the allowances of each row
	for i, a := range arrows {
		imported[i] = make([]bool, len(a.may))
	}
	for _, p := range ours {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if name == "" {
			continue // this folder: tests only
		}
		row := slices.IndexFunc(arrows, func(a arrow) bool { return matches(a.from, name) })
		if row < 0 {
			t.Errorf("%s has no row in the table: add it with a reason, and to ARCHITECTURE.md", name)
			continue
		}
		used[row] = true
		for _, imp := range p.Imports {
			if standard[imp] {
				continue
			}
			target := imp
			if rest, ok := strings.CutPrefix(imp, module+"/"); ok {
				target = rest
			}
			allowed := false
			for i, m := range arrows[row].may {
				if matches(m, target) {
					allowed, imported[row][i] = true, true
				}
			}
			if !allowed {
				t.Errorf("%s imports %s, which the table does not allow (%s)", name, target, arrows[row].why)
			}
		}
	}
	for i, a := range arrows {
		if !used[i] {
			t.Errorf("no package matches the row %q: remove it", a.from)
			continue
		}
		for k, m := range a.may {
			if !imported[i][k] {
				t.Errorf("no package of the row %q imports %q, which it allows: remove it", a.from, m)
			}
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{"ik", "ik", true}, {"ik", "ik/x", false}, {"offline/...", "offline/mocap", true},
		{"offline/...", "offline", true}, {"offline/...", "offlinex", false}, {path.Join("a", "b"), "a/b", true},
	} {
		if matches(c.pattern, c.pkg) != c.want {
			t.Errorf("matches(%q, %q) is not %v", c.pattern, c.pkg, c.want)
		}
	}
}
