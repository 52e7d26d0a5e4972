package skin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/internal/testing/mocapdata"
	"mannequin/internal/testing/must"
)

// clipsApart returns the largest distance of a joint in two clips of the same joints, in metres, and
// the largest angle between its rotations.
func clipsApart(t testing.TB, a, b *skel.Clip) (far, turned float32, where string) {
	t.Helper()
	if a.Frames != b.Frames || a.FPS/b.FPS > 1.001 || b.FPS/a.FPS > 1.001 || !reflect.DeepEqual(a.Skel.Names, b.Skel.Names) {
		t.Errorf("%d frames at %g of %d joints, want %d at %g of %d", b.Frames, b.FPS, b.Skel.Len(), a.Frames, a.FPS, a.Skel.Len())
		return 0, 0, ""
	}
	x, y := make([]m3.Xform, a.Skel.Len()), make([]m3.Xform, a.Skel.Len())
	for f := range a.Frames {
		a.Model(x, f)
		b.Model(y, f)
		for j := range x {
			if d := x[j].Pos.Dist(y[j].Pos); d > far {
				far, where = d, fmt.Sprintf("%s in frame %d", a.Skel.Names[j], f)
			}
			turned = max(turned, x[j].Rot.Angle(y[j].Rot))
		}
	}
	return far, turned, where
}

// again returns motions under other names.
func again(all []Motion) []Motion {
	out := append([]Motion(nil), all...)
	for i := range out {
		out[i].Name = fmt.Sprintf("%s again %d", out[i].Name, i)
	}
	return out
}

// kept reports a part of a document that is not in another: members and items of lists, where the
// other may have more items at the end. Byte lengths of buffers may differ.
func kept(old, now any, where string) string {
	switch old := old.(type) {
	case map[string]any:
		now, ok := now.(map[string]any)
		if !ok {
			return where
		}
		for k, v := range old {
			if k == "byteLength" && strings.HasPrefix(where, ".buffers[") || k == "uri" && (strings.HasPrefix(where, ".buffers[") || strings.HasPrefix(where, ".images[")) {
				continue
			}
			if bad := kept(v, now[k], where+"."+k); bad != "" {
				return bad
			}
		}
	case []any:
		now, ok := now.([]any)
		if !ok || len(now) < len(old) {
			return where
		}
		for i, v := range old {
			if bad := kept(v, now[i], fmt.Sprintf("%s[%d]", where, i)); bad != "" {
				return bad
			}
		}
	default:
		if !reflect.DeepEqual(old, now) {
			return where
		}
	}
	return ""
}

// document returns the JSON of a file as plain values, with numbers as texts.
func document(t testing.TB, data []byte) any {
	t.Helper()
	if bytes.HasPrefix(data, []byte("glTF")) {
		data, _ = splitChunks(data)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	must.Do(t, d.Decode(&v))
	return v
}

// glTFs returns the glTF files of the data sets.
func glTFs(t *testing.T) (paths []string) {
	dir := mocapdata.Dir(t)
	must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".glb", ".gltf", ".vrm", ".vrma":
			if info, err := e.Info(); err == nil && info.Size() > 0 {
				paths = append(paths, path)
			}
		}
		return err
	}))
	return paths
}

// The animations of other people's files, read as clips and added to the same file, move its joints as
// they did, within a tenth of a millimetre. Everything else is as it was.
func TestAddToFilesOfOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of animations")
	}
	files, animations, worst := 0, 0, float32(0)
	for _, path := range glTFs(t) {
		name := filepath.Base(path)
		all, err := OpenMotions(path)
		if err != nil {
			t.Logf("not read: %s: %.150s", name, strings.TrimPrefix(err.Error(), path))
			continue
		}
		out := filepath.Join(t.TempDir(), "out.glb")
		report, err := AddMotions(path, out, again(all), AddOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(report.Missing) > 0 {
			t.Errorf("%s: missing %v", name, report.Missing)
		}
		after, err := OpenMotions(out)
		var bad *Error
		if errors.As(err, &bad) && strings.Contains(bad.Msg, "too many") {
			continue // twice the motions are more than is read
		}
		if err != nil || len(after) != 2*len(all) {
			t.Errorf("%s: %d animations, %v", name, len(after), err)
			continue
		}
		for i := range all {
			if !reflect.DeepEqual(all[i].Clip, after[i].Clip) {
				t.Errorf("%s: %s has changed", name, all[i].Name)
			}
			far, turned, where := clipsApart(t, all[i].Clip, after[len(all)+i].Clip)
			if !(far < 1e-4) || !(turned < 2e-3) {
				t.Errorf("%s, %s: %s is off by %.4f mm, rotations by %g", name, all[i].Name, where, 1000*far, turned)
			}
			worst = max(worst, far)
		}
		if bad := keptMoving(document(t, must.Get(os.ReadFile(path))(t)), document(t, must.Get(os.ReadFile(out))(t))); bad != "" {
			t.Errorf("%s: %s has changed", name, bad)
		}
		files++
		animations += len(all)
	}
	t.Logf("%d animations of %d files; the worst joint is %.5f mm off", animations, files, 1000*worst)
}

// A motion goes into files without animations, with compressed meshes or mirrored joints too.
func TestAddToFilesWithoutMotion(t *testing.T) {
	files := 0
	for _, path := range glTFs(t) {
		name := filepath.Base(path)
		data := must.Get(os.ReadFile(path))(t)
		a, err := newAdder(path, data, nil)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if _, err := OpenMotions(path); err == nil || strings.Contains(err.Error(), "no such file") {
			continue
		}
		nodes, names := a.joints()
		if len(nodes) == 0 {
			continue // neither skins nor animations
		}
		sk := &skel.Skeleton{Names: names}
		for range nodes {
			sk.Parents, sk.Offsets, sk.EndSite = append(sk.Parents, -1), append(sk.Offsets, m3.Vec3{}), append(sk.EndSite, false)
		}
		c := skel.NewClip(sk, 30, 5)
		for f := range c.Frames {
			pos, rot := c.Frame(f)
			for j, n := range nodes {
				w := &a.world[n]
				pos[j] = m3.V(float32(w[3]), float32(w[7]), float32(w[11])).Add(m3.V(0.1*float32(f), 0.01*float32(j), 0))
				rot[j] = m3.FromRotationVector(m3.V(float32(f), 0.1*float32(j), 1))
			}
		}
		out := filepath.Join(t.TempDir(), "out.glb")
		report, err := AddMotions(path, out, []Motion{{Name: "made", Clip: c}}, AddOptions{})
		if err != nil || report.Joints != len(nodes) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if bad := keptMoving(document(t, data), document(t, must.Get(os.ReadFile(out))(t))); bad != "" {
			t.Errorf("%s: %s has changed", name, bad)
		}
		world := posedNodes(t, must.Get(os.ReadFile(out))(t), "made", 3)
		for j, n := range nodes {
			w := &world[n]
			if d := m3.V(float32(w[3]), float32(w[7]), float32(w[11])).Dist(c.Pos[3*len(nodes)+j]); !(d < 1e-4) {
				t.Errorf("%s: %s is off by %.4f mm", name, names[j], 1000*d)
			}
		}
		files++
	}
	t.Logf("%d files", files)
}
