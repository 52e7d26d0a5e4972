// Package doctor has the command that reports what this machine can do.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"mannequin/cmd/mannequin/internal/cli"
	"mannequin/netruntime"
	"mannequin/netruntime/cuda"
	"mannequin/netruntime/webgpu"
)

// finding is a line of the report.
type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"` // what to do if OK is false
}

// doctorReport is the report of doctor.
type doctorReport struct {
	Findings []finding `json:"findings"`
}

// New returns the command doctor.
func New() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Report what this machine can do: processor, window, headless picture, video, GPU, compute shaders, gamepad",
		Example: `  mannequin doctor
  mannequin doctor --json`,
		Args: cobra.NoArgs,
	}
	cli.Reports(c, func(*cobra.Command, []string) (cli.Report, error) { return doctorReport{diagnose()}, nil })
	return c
}

func (r doctorReport) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.Findings {
		mark := "yes"
		if !f.OK {
			mark = "no"
		}
		line := f.Detail
		if f.Remedy != "" {
			line += ": " + f.Remedy
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", f.Name, mark, line)
	}
	return t.Flush()
}

func diagnose() []finding {
	return []finding{
		{Name: "processor", OK: true, Detail: fmt.Sprintf("%s/%s, %d cores, %s kernels", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), netruntime.Kernels())},
		window(),
		library("headless picture", "libEGL.so.1", "install libegl1 and libgl1-mesa-dri"),
		program("video", "ffmpeg", "install ffmpeg; without it the demo writes GIF and PNG"),
		gpu(),
		anyGPU(),
		openGL(besides("demo")),
		gamepad(),
	}
}

func gpu() finding {
	if !cuda.Built {
		f := library("cuda", "libcuda.so.1", "no NVIDIA driver; everything runs on the processor")
		if f.OK {
			f.OK, f.Detail, f.Remedy = false, f.Detail+", but this program was built without CUDA", "make build-cuda"
		}
		return f
	}
	name, err := cuda.Device()
	if err != nil {
		return finding{Name: "cuda", Detail: err.Error(), Remedy: "everything runs on the processor"}
	}
	return finding{Name: "cuda", OK: true, Detail: name}
}

func anyGPU() finding {
	if !webgpu.Built {
		f := library("webgpu", "libvulkan.so.1", "no Vulkan driver; everything runs on the processor")
		if f.OK {
			f.OK, f.Detail, f.Remedy = false, f.Detail+", but this program was built without WebGPU", "make build-webgpu"
		}
		return f
	}
	name, err := webgpu.Device()
	if err != nil {
		return finding{Name: "webgpu", Detail: err.Error(), Remedy: "everything runs on the processor"}
	}
	return finding{Name: "webgpu", OK: true, Detail: name}
}

// besides returns the path of another of our programs in the folder of this one.
func besides(name string) string {
	self, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(self), name+filepath.Ext(self))
}

// openGL asks the demo whether OpenGL has compute shaders: this program has no OpenGL.
func openGL(demo string) finding {
	f := finding{Name: "compute shaders", Remedy: "demo --gpu-beyond leaves all on the processor"}
	if _, err := os.Stat(demo); err != nil {
		f.Detail, f.Remedy = "needs the demo, and there is no "+demo, "make build"
		return f
	}
	ctx, cancel := context.WithTimeout(context.Background(), openGLTimeout)
	defer cancel()
	ask := exec.CommandContext(ctx, demo, "opengl")
	ask.WaitDelay = time.Second
	out, err := ask.Output()
	if err == nil {
		f.OK, f.Detail, f.Remedy = true, strings.TrimSpace(string(out)), ""
		return f
	}
	f.Detail = demo + " opengl: " + err.Error()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		// Drivers may print lines before its own.
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		if last, ok := strings.CutPrefix(lines[len(lines)-1], "demo: "); ok {
			f.Detail = last
		}
	}
	return f
}

// openGLTimeout is the longest wait for the demo.
const openGLTimeout = 30 * time.Second

func window() finding {
	f := finding{Name: "window"}
	for _, v := range []string{"WAYLAND_DISPLAY", "DISPLAY"} {
		if d := os.Getenv(v); d != "" {
			f.OK, f.Detail = true, v+"="+d
			return f
		}
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		f.OK, f.Detail = true, "desktop"
		return f
	}
	f.Detail, f.Remedy = "neither DISPLAY nor WAYLAND_DISPLAY is set", "the demo renders to files"
	return f
}

// library looks for a shared library in the folders of the loader, without loading it: this program
// is built without C.
func library(name, so, remedy string) finding {
	dirs := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	dirs = append(dirs, "/usr/local/lib", "/usr/lib", "/lib", "/usr/lib64", "/lib64", "/usr/local/nvidia/lib64")
	for _, pattern := range []string{"/usr/lib/*-linux-gnu*", "/lib/*-linux-gnu*"} {
		more, _ := filepath.Glob(pattern)
		dirs = append(dirs, more...)
	}
	for _, d := range dirs {
		path := filepath.Join(d, so)
		if _, err := os.Stat(path); err == nil {
			return finding{Name: name, OK: true, Detail: path}
		}
	}
	return finding{Name: name, Detail: so + " not found", Remedy: remedy}
}

func program(name, exe, remedy string) finding {
	path, err := exec.LookPath(exe)
	if err != nil {
		return finding{Name: name, Detail: exe + " not found", Remedy: remedy}
	}
	detail := path
	if out, err := exec.Command(path, "-version").Output(); err == nil {
		first, _, _ := strings.Cut(string(out), "\n")
		if first, _, ok := strings.Cut(first, " Copyright"); ok {
			detail = path + ", " + first
		}
	}
	return finding{Name: name, OK: true, Detail: detail}
}

func gamepad() finding {
	pads, _ := filepath.Glob("/dev/input/js*")
	if len(pads) == 0 {
		return finding{Name: "gamepad", Detail: "none", Remedy: "the keyboard steers"}
	}
	return finding{Name: "gamepad", OK: true, Detail: strings.Join(pads, " ")}
}
