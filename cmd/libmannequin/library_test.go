package main_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mannequin/internal/testing/must"
	"mannequin/internal/testing/testlib"
)

// long asks for the long runs: make test-engines.
var long = os.Getenv("MANNEQUIN_ENGINES") != ""

const (
	dogFile  = "../../models/dog-free/dog-free.safetensors"
	heroFile = "../../models/hero/hero.character"
)

var folder string // of what is built, for all tests

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "libmannequin"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// need skips a test where a program is missing, and returns its path.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is missing", program)
	}
	return path
}

// run runs a command and returns what it prints; what it says of errors is in the test's failure.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%s: %v\n%s%s", cmd, err, out, exit.Stderr)
		}
		t.Fatal(err)
	}
	return string(out)
}

// build builds the library into a folder of its own, once, and returns the folder.
func build(name string, env []string, flags ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		dir := filepath.Join(folder, name)
		return dir, testlib.Build(dir, env, flags...)
	})
}

var plain = build("plain", nil)

// library returns the folder of a library, or skips the test.
func library(t *testing.T, of func() (string, error)) string {
	t.Helper()
	need(t, "gcc")
	dir, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// compile compiles a program with the library in a folder, and returns its path.
func compile(t *testing.T, lib, source string, flags ...string) string {
	t.Helper()
	compiler, standard := "gcc", "-std=gnu11"
	if strings.HasSuffix(source, ".cpp") {
		compiler, standard = "g++", "-std=c++17"
	}
	out := filepath.Join(t.TempDir(), "program")
	args := append([]string{standard, "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I.", "-o", out, source}, flags...)
	run(t, nil, need(t, compiler), append(args, filepath.Join(lib, "libmannequin.so"), "-Wl,-rpath,"+lib, "-lm", "-lpthread", "-ldl")...)
	return out
}

// The example moves 100 dogs in at most 60 lines, and uses memory as C allows.
func TestDogs(t *testing.T) {
	const source = "examples/dogs/dogs.c"
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 60 {
		t.Errorf("%s has %d lines", source, n)
	}
	program := compile(t, library(t, plain), source, "-fsanitize=address,undefined", "-fno-sanitize-recover")
	out := run(t, nil, program, dogFile, "576")
	for s, place := range map[int][2]float64{2: {0.87, 1.08}, 4: {2.35, 2.64}} {
		m := regexp.MustCompile(fmt.Sprintf(`after %d s the hips of the first dog are at \((.*), 0.4., (.*)\)`, s)).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("it prints\n%s", out)
		}
		for i, want := range place {
			if v, err := strconv.ParseFloat(m[i+1], 64); err != nil || max(v-want, want-v) > 0.3 {
				t.Errorf("after %d s: %s, want about %g", s, m[i+1], want)
			}
		}
	}
	t.Log(out)
}

// The example is linked with the archive, too.
func TestArchive(t *testing.T) {
	need(t, "gcc")
	dir := t.TempDir()
	archive, program := filepath.Join(dir, "libmannequin.a"), filepath.Join(dir, "program")
	run(t, nil, "go", "build", "-buildmode=c-archive", "-o", archive, ".")
	run(t, nil, "gcc", "-I.", "-o", program, "examples/dogs/dogs.c", archive, "-lm", "-lpthread")
	run(t, nil, program, dogFile, "3")
}

// The same where Go's own accesses are checked, too, and where cgo checks each pointer that it stores.
func TestDogsChecked(t *testing.T) {
	if !long {
		t.Skip("takes minutes: make test-engines")
	}
	checked := library(t, build("asan", nil, "-asan"))
	run(t, nil, compile(t, checked, "examples/dogs/dogs.c", "-fsanitize=address"), dogFile, "576")
	run(t, nil, compile(t, checked, "testdata/cpp.cpp", "-fsanitize=address"), dogFile)
	stores := library(t, build("cgocheck", []string{"GOEXPERIMENT=cgocheck2"}))
	run(t, nil, compile(t, stores, "examples/dogs/dogs.c"), dogFile, "576")
	run(t, nil, compile(t, stores, "testdata/cpp.cpp"), dogFile)
	run(t, nil, compile(t, stores, "testdata/fuzz.c"), dogFile, heroFile, "3", "100000")
}

// Memcheck finds nothing in the example. It does not know the stacks and the heap of Go, which are memory that no malloc returned:
// what it says of accesses to those, from the library, is not counted.
func TestDogsValgrind(t *testing.T) {
	valgrind := need(t, "valgrind")
	program, report := compile(t, library(t, plain), "examples/dogs/dogs.c"), filepath.Join(t.TempDir(), "report.xml")
	frames := "2" // a tick, which takes seconds here
	if long {
		frames = "24"
	}
	run(t, []string{"GOMAXPROCS=1"}, valgrind, "--error-limit=no", "--leak-check=full", "--xml=yes", "--xml-file="+report, program, dogFile, frames)
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Errors []struct {
			Kind  string   `xml:"kind"`
			What  string   `xml:"what"`
			XWhat string   `xml:"xwhat>text"`
			Aux   []string `xml:"auxwhat"`
			Stack []struct {
				Frames []struct {
					Obj string `xml:"obj"`
					Fn  string `xml:"fn"`
				} `xml:"frame"`
			} `xml:"stack"`
		} `xml:"error"`
	}
	if err := xml.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	ours := 0
	for _, e := range found.Errors {
		in := ""
		if len(e.Stack) > 0 && len(e.Stack[0].Frames) > 0 {
			in = e.Stack[0].Frames[0].Obj
		}
		fromGo := strings.HasSuffix(in, "/libmannequin.so") || in == "" // what Go has no name for
		goMemory := strings.HasPrefix(e.Kind, "Uninit") || slices.ContainsFunc(e.Aux, func(s string) bool { return strings.Contains(s, "is in a rw- anonymous segment") })
		stack := fmt.Sprint(e.Stack)
		goThread := e.Kind == "Leak_PossiblyLost" && strings.Contains(stack, "pthread_create") && strings.Contains(stack, "/libmannequin.so") // it runs until the end
		if fromGo && goMemory || goThread {
			continue
		}
		ours++
		t.Errorf("%s in %s: %s%s %v\n%+v", e.Kind, in, e.What, e.XWhat, e.Aux, e.Stack)
	}
	t.Logf("%d reports are of Go's memory, %d of the program's", len(found.Errors)-ours, ours)
}

// The viewer shows its crowd, and the first one in a colour of its own in the middle.
func TestViewer(t *testing.T) {
	xvfb := need(t, "xvfb-run")
	flags, err := exec.Command(need(t, "pkg-config"), "--cflags", "--libs", "glfw3", "gl").Output()
	if err != nil {
		t.Skip("glfw3 is missing: make test-engines installs it")
	}
	program := compile(t, library(t, plain), "examples/viewer/viewer.c", strings.Fields(string(flags))...)
	picture := filepath.Join(t.TempDir(), "picture.ppm")
	run(t, nil, xvfb, "-a", "-s", "-screen 0 1280x720x24", program, heroFile, "20", "240", picture)
	file, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var width, height, most int
	if _, err := fmt.Fscanf(file, "P6\n%d %d\n%d\n", &width, &height, &most); err != nil || width < 100 || height < 100 {
		t.Fatalf("a picture of %d by %d: %v", width, height, err)
	}
	pixels, err := io.ReadAll(file)
	if err != nil || len(pixels) != 3*width*height {
		t.Fatalf("%d bytes of pixels: %v", len(pixels), err)
	}
	first, others, left := 0, 0, width
	for i := 0; i < len(pixels); i += 3 {
		switch r, b := int(pixels[i]), int(pixels[i+2]); {
		case r > b+100:
			first++
			left = min(left, i/3%width)
		case b > r+60:
			others++
		}
	}
	if first < 500 || others < 500 || left < width/3 || left > width/2 {
		t.Errorf("%d pixels of the first, from %d of %d on, %d of the others", first, left, width, others)
	}
}

// Random calls end with a code. MANNEQUIN_CALLS says how many.
func TestRandomCalls(t *testing.T) {
	calls := os.Getenv("MANNEQUIN_CALLS")
	if calls == "" {
		calls = "100000"
	}
	program := compile(t, library(t, plain), "testdata/fuzz.c")
	for _, seed := range []string{"1", "2"} {
		t.Log(run(t, nil, program, dogFile, heroFile, seed, calls))
	}
}

// A host keeps its signals, calls from several threads, and loads the library when it runs.
func TestHost(t *testing.T) {
	lib := library(t, plain)
	out := filepath.Join(t.TempDir(), "host")
	run(t, nil, "gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-I.", "-o", out, "testdata/host.c", "-ldl", "-lpthread")
	t.Log(run(t, nil, out, filepath.Join(lib, "libmannequin.so"), dogFile))
}

func TestCPP(t *testing.T) {
	t.Log(run(t, nil, compile(t, library(t, plain), "testdata/cpp.cpp", "-fsanitize=address,undefined", "-fno-sanitize-recover"), dogFile))
}

func TestPython(t *testing.T) {
	python := need(t, "python3")
	env := []string{"MANNEQUIN_LIBRARY=" + filepath.Join(library(t, plain), "libmannequin.so"), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1"}
	t.Log(run(t, env, python, "testdata/test_mannequin.py", dogFile))
}

// The library exports the functions of the header, with its types, and nothing else.
func TestExports(t *testing.T) {
	lib := library(t, plain)
	header := string(must.Get(os.ReadFile("mannequin.h"))(t))
	generated := string(must.Get(os.ReadFile(filepath.Join(lib, "libmannequin.h")))(t))
	onlyWasm := regexp.MustCompile(`(?s)#ifdef __wasm__.*?#endif`)
	normal := strings.NewReplacer("const ", "", "*", " * ")
	prototypes := func(text, begin string) map[string]string {
		all := map[string]string{}
		for _, m := range regexp.MustCompile(`(?m)^`+begin+` ([a-zA-Z0-9_]+) (mq\w+)\((.*)\);`).FindAllStringSubmatch(text, -1) {
			types := []string{m[1]}
			for p := range strings.SplitSeq(normal.Replace(m[3]), ",") { // types without names
				if f := strings.Fields(p); len(f) > 1 { // not void
					types = append(types, strings.Join(f[:len(f)-1], ""))
				}
			}
			all[m[2]] = strings.Join(types, " ")
		}
		return all
	}
	want, got := prototypes(onlyWasm.ReplaceAllString(header, ""), "MQ_API"), prototypes(generated, "extern")
	for _, name := range []string{"mqWorld_SetGroundCallback", "mqWorld_SetMoveCallback"} {
		got[name] = strings.Replace(got[name], "uintptr_t", "void*", 1) // a context is a number in Go
	}
	got["mqGetLastError"] = "int32_t char* int32_t" // is C
	if len(want) < 50 {
		t.Fatalf("the header has %d functions", len(want))
	}
	for name, types := range want {
		if got[name] != types {
			t.Errorf("%s has the types %q in the header and %q in Go", name, types, got[name])
		}
	}
	for name := range got {
		if want[name] == "" {
			t.Errorf("%s is not in the header", name)
		}
	}
	symbols := run(t, nil, need(t, "nm"), "-D", "--defined-only", filepath.Join(lib, "libmannequin.so"))
	exported := 0
	for line := range strings.Lines(symbols) {
		f := strings.Fields(line)
		name := f[len(f)-1]
		if _, ok := want[name]; !ok && name != "mqSetLastError" && name != "mqCallGround" && name != "mqCallMove" {
			t.Errorf("the library exports %s", name)
		}
		exported++
	}
	if exported < len(want) {
		t.Errorf("%d symbols for %d functions", exported, len(want))
	}
}

// The WebAssembly module exports the functions of the header, with the types that C's compilers for wasm32 give them.
func TestExportsWasm(t *testing.T) {
	header := string(must.Get(os.ReadFile("mannequin.h"))(t))
	want := map[string]string{}
	numbers := map[string]string{"int32_t": "int32", "float": "float32", "double": "float64", "mqResult": "int32", "void": ""}
	of := func(c string) string { // other types are addresses
		if n, ok := numbers[strings.TrimSpace(strings.TrimPrefix(c, "const "))]; ok {
			return n
		}
		return "uint32"
	}
	for _, m := range regexp.MustCompile(`(?m)^MQ_API (\w+\*?) (mq\w+)\((.*)\);`).FindAllStringSubmatch(header, -1) {
		var params []string
		result := of(m[1])
		if strings.HasPrefix(m[1], "mq") && result == "uint32" { // a struct
			params, result = []string{"uint32"}, ""
		}
		for p := range strings.SplitSeq(m[3], ",") {
			if p != "void" {
				params = append(params, of(p[:strings.LastIndexAny(p, " ")]))
			}
		}
		want[m[2]] = strings.Join(params, " ") + ":" + result
	}
	got := map[string]string{}
	for _, file := range []string{"exports_wasip1.go", "host_wasip1.go"} {
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments))(t)
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil || !strings.Contains(f.Doc.List[len(f.Doc.List)-1].Text, "//go:wasmexport") {
				continue
			}
			if doc := f.Doc.List[len(f.Doc.List)-1].Text; doc != "//go:wasmexport "+f.Name.Name {
				t.Errorf("%s has the comment %s", f.Name.Name, doc)
			}
			var types []string
			for _, p := range f.Type.Params.List {
				for range p.Names {
					types = append(types, p.Type.(*ast.Ident).Name)
				}
			}
			got[f.Name.Name] = strings.Join(types, " ") + ":"
			if f.Type.Results != nil {
				got[f.Name.Name] += f.Type.Results.List[0].Type.(*ast.Ident).Name
			}
		}
	}
	if len(want) < 50 || !maps.Equal(got, want) {
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s has the types %q, want %q", name, got[name], want[name])
			}
		}
		t.Errorf("%d functions for the %d of the header", len(got), len(want))
	}
}

// The program of crowd.c, which ticks when it is told to.
type ticker struct {
	in  io.WriteCloser
	out io.Reader
	cmd *exec.Cmd
}

func startTicker(t *testing.T, program, file string, agents, ticks, every int) *ticker {
	t.Helper()
	k := &ticker{cmd: exec.Command(program, file, strconv.Itoa(agents), strconv.Itoa(ticks), strconv.Itoa(every))}
	k.cmd.Stderr = os.Stderr
	var err error
	if k.in, err = k.cmd.StdinPipe(); err == nil {
		if k.out, err = k.cmd.StdoutPipe(); err == nil {
			err = k.cmd.Start()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.cmd.Process.Kill(); k.cmd.Wait() })
	return k
}
