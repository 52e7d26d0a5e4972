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
	for _, opt := range []OpenOptions{{}, {ASF: asf, FrameRate: 60}} {
		want := opt.FrameRate
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

// Files in formats that are not read say what they are, and what to do.
func TestForeign(t *testing.T) {
	c3d := make([]byte, 512)
	c3d[0], c3d[1] = 2, 0x50
	zip := append([]byte("PK\x03\x04"), make([]byte, 26)...)
	zip[26] = 10
	for data, want := range map[string]string{
		"PXR-USDC\x00": "a USD scene, which is not read: open it in Blender", "#usda 1.0\n": "a USD scene", string(zip) + "scene.usdc": "a USDZ scene", string(zip) + "pack/a.bvh": "a ZIP archive",
		string(c3d): "a C3D file of markers, which is not read: markers have no skeleton", "PathFileType\t4\t(X/Y/Z)\ta.trc\n": "a TRC file of markers",
		"BLENDER-v300": "a Blender project", "\x28\xb5\x2f\xfd": "compressed, which is not read: unpack it first", "\x1f\x8b\x08": "compressed",
		"INTERQUAKEMODEL\x00": "an IQM model", "<?xml version=\"1.0\"?>\n<COLLADA>": "a COLLADA scene", "\xef\xbb\xbf<COLLADA xmlns=": "a COLLADA scene",
		"//Maya ASCII 2024 scene\n": "a Maya scene, which is not read: export it as FBX", "FOR4\x00\x00\x01\x00Maya    FOR4": "a Maya scene", "FOR8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00MayaFOR8": "a Maya scene",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "a 3ds Max scene", "MM\x20\x10\x00\x00\x02\x00": "a 3ds scene",
		"# made by hand\n\nmtllib a.mtl\nv 1 2 3\n": "an OBJ mesh, which is not read: it has no joints", "v 1.0 2.0 3.0\n": "an OBJ mesh", "version 1\nnodes\n0 \"root\" -1\n": "a Valve SMD",
		"PMX \x00\x00": "a MikuMikuDance model", "Vocaloid Motion Data 0002": "a MikuMikuDance motion", "Ogawa\xff\x00": "an Alembic cache", "\x93NUMPY\x01": "a NumPy array", "\x89PNG\r\n\x1a\n": "a picture", "#Hierarchical Translation and Rotation (.htr) file": "an HTR file", "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n": "a Unity asset", "[gd_scene load_steps=2]": "a Godot scene",
		"version https://git-lfs.github.com/spec/v1\n": "a pointer to a file in Git LFS, which is not read: fetch the file itself", "\n<!DOCTYPE html>": "a page of the web, which is not read: download the file itself", "\xff\xfeH\x00": "text in UTF-16, which is not read: save it as UTF-8",
		"%PDF-1.7": "a PDF document, which is not read: export it as FBX, glTF or BVH",
	} {
		path := filepath.Join(t.TempDir(), "a.bvh")
		must.Do(t, os.WriteFile(path, []byte(data), 0o666))
		must.Fail(Open(path, OpenOptions{}))(t, path+": is "+want)
	}
	for _, data := range []string{"HIERARCHY\nROOT hips", "# comment\n:FULLY-SPECIFIED\n:DEGREES\n1\nroot 1 2 3", "MMMM", "glTF\x02\x00\x00\x00", "{\"asset\":{}}", "0.1,2,3", "; FBX 7.4.0 project file", "version", "Kaydara FBX Binary  \x00"} {
		if what, _ := Foreign([]byte(data)); what != "" {
			t.Errorf("%q is taken for %s", data, what)
		}
	}
}

// Whatever a file begins with, it is foreign or not, and its format is one that has a name.
func FuzzForeign(f *testing.F) {
	for _, x := range foreign {
		f.Add([]byte(x.magic))
	}
	f.Add([]byte("PK\x03\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00a.usdc"))
	f.Add([]byte("# comment\nv 1 2 3\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if what, advice := Foreign(data); what == "" && advice != "" {
			t.Errorf("advice %q for a file that is none", advice)
		}
		if f := FormatOf("a", data); int(f) >= len(formatNames) {
			t.Errorf("%v", f)
		}
	})
}
