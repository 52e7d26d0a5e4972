package mocap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

func TestFormatOf(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Format
	}{
		{"a.bvh", "", FormatBVH},
		{"a.BVH", "1,2,3", FormatBVH},
		{"a.amc", "", FormatAMC},
		{"a.TXT", "", FormatH36M},
		{"a.asf", ":version 1.10", FormatASF},
		{"a.txt", "\xef\xbb\xbf hierarchy\nROOT hips", FormatBVH},
		{"-", "HIERARCHY\n", FormatBVH},
		{"-", "# made by hand\n:FULLY-SPECIFIED\n", FormatAMC},
		{"-", "1\nroot 0 0 0\n", FormatAMC},
		{"-", "0.5, 1e-3,2\n", FormatH36M},
		{"-", "", FormatBVH},
		{"-", "\x00\xff{", FormatBVH},
	} {
		if got := FormatOf(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s, %q: %v, want %v", c.name, c.text, got, c.want)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	if _, err := Open(filepath.Join(dir, "1_2.amc"), OpenOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	amc := write("1_2.amc", stickAMC)
	if _, err := Open(amc, OpenOptions{}); !errors.Is(err, ErrNoASF) {
		t.Error(err)
	}
	if _, err := Open(amc, OpenOptions{ASF: filepath.Join(dir, "1.asf")}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	asf := write("1.asf", stickASF)
	for _, opt := range []OpenOptions{{}, {ASF: asf, AMCFPS: 60}} {
		want := opt.AMCFPS
		if want == 0 {
			want = AMCRate
		}
		if b, err := Open(amc, opt); err != nil || b.Format != FormatAMC || b.Clip.FPS != want || b.Clip.Frames != 2 {
			t.Errorf("%+v: %v, %v", opt, b, err)
		}
	}
	if _, err := Open(amc, OpenOptions{ASF: dir}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if _, err := Open(asf, OpenOptions{}); err == nil || !strings.Contains(err.Error(), "without motion") {
		t.Errorf("an ASF: %v", err)
	}
	must.Do(t, os.Truncate(asf, maxSkeletonSize+1))
	if _, err := Open(amc, OpenOptions{}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
	bvh := write("walk.txt", "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Xposition } MOTION Frames: 1 Frame Time: 0.01 5")
	if b, err := Open(bvh, OpenOptions{}); err != nil || b.Format != FormatBVH {
		t.Errorf("a BVH called .txt: %v, %v", b, err)
	}
	frame := strings.TrimSuffix(strings.Repeat("0,", 99), ",")
	if b, err := Open(write("h36m", frame+"\n"+frame), OpenOptions{}); err != nil || b.Format != FormatH36M || b.Clip.Frames != 2 {
		t.Errorf("Human3.6M without an extension: %v, %v", b, err)
	}
}

// An animation of a glTF file is a recording on the file's own joints. One of several is chosen by name.
func TestOpenGLTF(t *testing.T) {
	path := filepath.Join(mocapdata.Dir(t), "kaykit", "Med_General.glb")
	b := must.Get(Open(path, OpenOptions{Animation: "Rig_Medium|Idle_A"}))(t)
	if b.Format != FormatGLTF || b.Clip.Frames < 20 || b.Clip.Skel.Len() < 20 || b.NumChannels() < 60 {
		t.Errorf("%v: %d frames of %d joints, %d channels", b.Format, b.Clip.Frames, b.Clip.Skel.Len(), b.NumChannels())
	}
	for name, want := range map[string]string{"": "choose one of Rig_Medium|Death_A, ", "Wave": `no animation "Wave"`} {
		if _, err := Open(path, OpenOptions{Animation: name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// Files in formats that are not read say what they are.
func TestForeign(t *testing.T) {
	c3d := make([]byte, 512)
	c3d[0], c3d[1] = 2, 0x50
	for data, want := range map[string]string{
		"PXR-USDC\x00": "a USD scene", "#usda 1.0\n": "a USD scene", "PK\x03\x04": "a ZIP archive", string(c3d): "a C3D file", "BLENDER-v300": "a Blender project",
		"\x28\xb5\x2f\xfd": "compressed", "INTERQUAKEMODEL\x00": "an IQM model", "<?xml version=\"1.0\"?>\n<COLLADA>": "a COLLADA scene",
	} {
		path := filepath.Join(t.TempDir(), "a.bvh")
		must.Do(t, os.WriteFile(path, []byte(data), 0o666))
		if _, err := Open(path, OpenOptions{}); err == nil || !strings.Contains(err.Error(), path+": is "+want) || !strings.Contains(err.Error(), "export it as FBX, glTF or BVH") {
			t.Errorf("%.20q: %v, want %s", data, err, want)
		}
	}
}
