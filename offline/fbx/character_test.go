package fbx

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"mannequin/internal/testing/growth"
	"mannequin/internal/testing/must"
)

// picture is a PNG of two by two pixels.
func picture(tb testing.TB) []byte {
	img := image.NewRGBA(image.Rect(0, 0, 2, 2))
	img.Set(0, 0, color.RGBA{255, 0, 0, 255})
	var b bytes.Buffer
	must.Do(tb, png.Encode(&b, img))
	return b.Bytes()
}

func matrixAt(x, y, z float64) []float64 {
	return []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1}
}

// strip is two squares, one above the other, that face −Y.
func strip() []tree {
	return []tree{
		rec("Vertices", []float64{-10, 0, 0, 10, 0, 0, 10, 0, 40, -10, 0, 40, 10, 0, 80, -10, 0, 80}),
		rec("PolygonVertexIndex", []int64{0, 1, 2, ^3, 3, 2, 4, ^5}),
		rec("LayerElementNormal", 0, rec("MappingInformationType", "ByVertice"), rec("ReferenceInformationType", "Direct"),
			rec("Normals", []float64{0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0})),
		rec("LayerElementUV", 0, rec("MappingInformationType", "ByPolygonVertex"), rec("ReferenceInformationType", "IndexToDirect"),
			rec("UV", []float64{0, 0, 1, 0, 1, 1, 0, 1}), rec("UVIndex", []int64{0, 1, 2, 3, 0, 1, 2, 3})),
		rec("LayerElementMaterial", 0, rec("MappingInformationType", "ByPolygon"), rec("ReferenceInformationType", "IndexToDirect"), rec("Materials", []int64{0, 1})),
	}
}

func cluster7(id int, points []int64, weights []float64, to, link []float64) tree {
	return rec("Deformer", id, "\x00\x01SubDeformer", "Cluster", rec("Indexes", points), rec("Weights", weights), rec("Transform", to), rec("TransformLink", link))
}

var (
	lowPoints, lowWeights   = []int64{0, 1, 2, 3}, []float64{1, 1, 0.25, 0.25}
	highPoints, highWeights = []int64{2, 3, 4, 5}, []float64{0.25, 0.25, 1, 1}
)

// doll is a character of three joints, in centimetres with +Z up: the chest is bent by 45° in the file, was
// straight when the strip was bound to it, and bends by 90° in a second. The head moves no points.
func doll(tb testing.TB, mesh []tree, extra ...tree) []tree {
	objects := []tree{
		limb(2, "Hips"), limb(3, "Chest", prop("Lcl Translation", 0.0, 0.0, 40.0), prop("Lcl Rotation", 45.0, 0.0, 0.0)),
		limb(4, "Head", prop("Lcl Translation", 0.0, 0.0, 40.0)),
		rec("Model", 5, "Strip\x00\x01Model", "Mesh", rec("Properties70", prop("Lcl Translation", 0.0, 5.0, 0.0), prop("GeometricTranslation", 0.0, 0.0, 2.0))),
		rec("Geometry", 6, "\x00\x01Geometry", "Mesh", mesh),
		rec("Deformer", 7, "\x00\x01Deformer", "Skin"),
		cluster7(8, lowPoints, lowWeights, matrixAt(0, 5, 0), matrixAt(0, 0, 0)),
		cluster7(9, highPoints, highWeights, matrixAt(0, 5, -40), matrixAt(0, 0, 40)),
		rec("Material", 10, "trousers\x00\x01Material", "", rec("Properties70", prop("DiffuseColor", 0.5, 0.25, 1.0), prop("DiffuseFactor", 0.5))),
		rec("Material", 11, "shirt\x00\x01Material", ""),
		rec("Texture", 12, "\x00\x01Texture", "", rec("RelativeFilename", `textures\shirt.png`), rec("Properties70", prop("WrapModeU", 1))),
		rec("Video", 13, "\x00\x01Video", "Clip", rec("Content", picture(tb))),
		rec("AnimationStack", 100, "bend\x00\x01AnimStack", ""), rec("AnimationLayer", 101, "Base\x00\x01AnimLayer", ""),
		rec("AnimationCurveNode", 111, "R\x00\x01AnimCurveNode", ""), keys(121, []float64{0, 1}, []float32{0, 90}),
	}
	links := []tree{link2(2, 0), link2(3, 2), link2(4, 3), link2(5, 0), link2(6, 5), link2(7, 6), link2(8, 7), link2(9, 7), link2(2, 8), link2(3, 9),
		link2(10, 5), link2(11, 5), linkTo(12, 11, "DiffuseColor"), link2(13, 12), link2(101, 100), link2(111, 101), linkTo(111, 3, "Lcl Rotation"), linkTo(121, 111, "d|X")}
	for _, t := range extra {
		if t.name == "C" {
			links = append(links, t)
		} else {
			objects = append(objects, t)
		}
	}
	return []tree{rec("GlobalSettings", rec("Properties70", zUp)), rec("Objects", objects), rec("Connections", links)}
}

// doll6 is the doll in version 6, without its animation.
func doll6() []tree {
	property := func(name string, values ...any) tree {
		return rec("Property", append([]any{name, "", "A"}, values...)...)
	}
	model := func(name, class string, below []tree, p ...tree) tree {
		return rec("Model", "Model::"+name, class, append([]tree{rec("Properties60", p)}, below...))
	}
	connect := func(child, parent string) tree { return rec("Connect", "OO", child, parent) }
	cluster := func(name string, points []int64, weights []float64, to, link []float64) tree {
		return rec("Deformer", "SubDeformer::"+name, "Cluster", plain("Indexes", points), plain("Weights", weights), plain("Transform", to), plain("TransformLink", link))
	}
	mesh := strip()
	for i := range mesh {
		mesh[i] = mesh[i].plain()
	}
	settings := make([]tree, len(zUp))
	for i, p := range zUp {
		settings[i] = property(p.values[0].(string), p.values[4:]...)
	}
	return []tree{
		rec("Objects", model("Hips", "Limb", nil), model("Chest", "Limb", nil, property("Lcl Translation", 0.0, 0.0, 40.0), property("Lcl Rotation", 45.0, 0.0, 0.0)),
			model("Head", "Limb", nil, property("Lcl Translation", 0.0, 0.0, 40.0)),
			model("Strip", "Mesh", mesh, property("Lcl Translation", 0.0, 5.0, 0.0), property("GeometricTranslation", 0.0, 0.0, 2.0)),
			rec("Deformer", "Deformer::Skin", "Skin"),
			cluster("low", lowPoints, lowWeights, matrixAt(0, 5, 0), matrixAt(0, 0, 0)), cluster("high", highPoints, highWeights, matrixAt(0, 5, -40), matrixAt(0, 0, 40)),
			rec("Material", "Material::trousers", "", rec("Properties60", property("DiffuseColor", 0.5, 0.25, 1.0), property("DiffuseFactor", 0.5))),
			rec("Material", "Material::shirt", ""), rec("GlobalSettings", rec("Properties60", settings))),
		rec("Connections", connect("Model::Hips", "Model::Scene"), connect("Model::Chest", "Model::Hips"), connect("Model::Head", "Model::Chest"), connect("Model::Strip", "Model::Scene"),
			connect("Deformer::Skin", "Model::Strip"), connect("SubDeformer::low", "Deformer::Skin"), connect("SubDeformer::high", "Deformer::Skin"),
			connect("Model::Hips", "SubDeformer::low"), connect("Model::Chest", "SubDeformer::high"), connect("Material::trousers", "Model::Strip"), connect("Material::shirt", "Model::Strip")),
	}
}

// plain is a record whose numbers follow each other, as in version 6.
func plain[T any](name string, numbers []T) tree {
	t := tree{name: name}
	for _, x := range numbers {
		t.values = append(t.values, x)
	}
	return t
}

// plain returns a record with numbers in place of arrays.
func (t tree) plain() tree {
	out := tree{name: t.name}
	for _, v := range t.values {
		switch v := v.(type) {
		case []int64:
			out.values = append(out.values, plain("", v).values...)
		case []float64:
			out.values = append(out.values, plain("", v).values...)
		default:
			out.values = append(out.values, v)
		}
	}
	for _, b := range t.below {
		out.below = append(out.below, b.plain())
	}
	return out
}

// dolls are the doll in each form.
func dolls(tb testing.TB) map[string][]byte {
	out := formats(doll(tb, strip()))
	out["ASCII 6.1"], out["binary 6.1"] = asciiFile(6100, doll6()), binaryFile(6100, doll6())
	return out
}

// bent returns where a point of the strip is, in metres, if the chest is bent by an angle about X.
func bent(p [3]float64, deg float64) (out [3]float64) {
	share := map[float64]float64{0: 0, 40: 0.5, 80: 1}[p[2]] // the chest's
	x, y, z := p[0], p[1]+5, p[2]+2
	sin, cos := math.Sincos(deg * math.Pi / 180)
	y2, z2 := y*cos-(z-40)*sin, y*sin+(z-40)*cos+40
	y, z = (1-share)*y+share*y2, (1-share)*z+share*z2
	return [3]float64{x / 100, z / 100, -y / 100}
}

// Vertices are where the formula puts them, at rest and in an animation, with their texture coordinates,
// normals, weights, materials and joints, in every form.
func TestCharacter(t *testing.T) {
	points := [][3]float64{{-10, 0, 0}, {10, 0, 0}, {10, 0, 40}, {-10, 0, 40}, {-10, 0, 40}, {10, 0, 40}, {10, 0, 80}, {-10, 0, 80}}
	uv := [][2]float64{{0, 1}, {1, 1}, {1, 0}, {0, 0}}
	check := func(what string, c *Character, a *gltf.Animation, time, deg float64) {
		s := newShown(c.Doc)
		all, area := s.corners(t, s.worlds(t, a, time))
		v := all["Strip"]
		if len(v) != 8 || math.Abs(area["Strip"]-2*0.2*0.4) > 1e-6 && deg == 0 {
			t.Fatalf("%s: %d vertices, %g m²", what, len(v), area["Strip"])
		}
		for i, p := range points {
			want := bent(p, deg)
			for k := range want {
				if math.Abs(v[i].at[k]-want[k]) > 1e-6 {
					t.Fatalf("%s: vertex %d is at %v, want %v", what, i, v[i].at, want)
				}
			}
			chest := map[float64]float64{0: 0, 40: 0.5, 80: 1}[p[2]]
			if v[i].uv != uv[i%4] || v[i].normal != [3]float64{0, -1, 0} || v[i].joints["Chest"] != chest || math.Abs(v[i].joints["Hips"]-(1-chest)) > 1e-9 {
				t.Errorf("%s: vertex %d: %+v", what, i, v[i])
			}
		}
	}
	for name, data := range dolls(t) {
		c := must.Get(ReadCharacter(name, data))(t)
		check(name, c, nil, 0, 45)
		d := c.Doc
		if len(c.Notes) > 0 || len(d.Materials) != 2 || d.Materials[0].Name != "trousers" || d.Materials[1].Name != "shirt" ||
			*d.Materials[0].PBRMetallicRoughness.BaseColorFactor != [4]float64{0.25, 0.125, 0.5, 1} {
			t.Errorf("%s: notes %v, materials %+v", name, c.Notes, d.Materials)
		}
		var joints []string
		for _, j := range d.Skins[0].Joints {
			joints = append(joints, d.Nodes[j].Name)
		}
		if strings.Join(joints, " ") != "Hips Chest Head" {
			t.Errorf("%s: joints %v", name, joints)
		}
		straight := must.Get(readCharacter(name, data, nil, false))(t)
		check(name+", bind pose", straight, nil, 0, 0)
		sk := must.Get(straight.Skin())(t)
		if got := sk.Joints(); !slices.Equal(got, []string{"Hips", "Chest", "Head"}) || sk.Vertices() != 8 || sk.Triangles() != 4 {
			t.Errorf("%s: a skin of %v, %d vertices and %d triangles", name, got, sk.Vertices(), sk.Triangles())
		}
		if strings.Contains(name, "6.1") {
			continue
		}
		if len(d.Animations) != 1 || d.Animations[0].Name != "bend" || len(d.Animations[0].Channels) != 1 {
			t.Errorf("%s: animations %+v", name, d.Animations)
			continue
		}
		for _, f := range []int{0, 6, 24} {
			check(name, c, d.Animations[0], float64(f)/24, 90*float64(f)/24)
		}
		img := must.Get(modeler.ReadBufferView(d, d.BufferViews[*d.Images[0].BufferView]))(t)
		base := d.Materials[1].PBRMetallicRoughness
		if !bytes.Equal(img, picture(t)) || base.BaseColorTexture == nil || *base.BaseColorFactor != [4]float64{1, 1, 1, 1} || d.Samplers[0].WrapS != gltf.WrapClampToEdge ||
			d.Images[0].Name != "shirt.png" || d.Images[0].MimeType != "image/png" {
			t.Errorf("%s: picture of %d bytes, material %+v", name, len(img), base)
		}
	}
}

// The same values come from each way to map them.
func TestMappings(t *testing.T) {
	mesh := func(mapping, reference string, values []float64, index ...int64) []tree {
		e := rec("LayerElementColor", 0, rec("MappingInformationType", mapping), rec("ReferenceInformationType", reference), rec("Colors", values))
		if index != nil {
			e.below = append(e.below, rec("ColorIndex", index))
		}
		return append(strip(), e)
	}
	red, blue := []float64{1, 0, 0, 1}, []float64{0, 0, 1, 1}
	list := func(s string) (out []float64) {
		for _, c := range s {
			out = append(out, map[rune][]float64{'r': red, 'b': blue}[c]...)
		}
		return out
	}
	for _, c := range []struct {
		mesh []tree
		want string // colours of the vertices
	}{
		{mesh("ByPolygonVertex", "Direct", list("rrrrbbbb")), "rrrrbbbb"},
		{mesh("ByPolygonVertex", "IndexToDirect", list("br"), 1, 1, 1, 1, 0, 0, 0, 0), "rrrrbbbb"},
		{mesh("ByPolygon", "Direct", list("rb")), "rrrrbbbb"},
		{mesh("ByPolygon", "Index", list("br"), 1, 0), "rrrrbbbb"},
		{mesh("ByVertice", "Direct", list("rrbbbb")), "rrbbbbbb"},
		{mesh("ByVertex", "IndexToDirect", list("br"), 1, 1, 0, 0, 0, 0), "rrbbbbbb"},
		{mesh("AllSame", "Direct", red), "rrrrrrrr"},
		{mesh("AllSame", "IndexToDirect", list("br"), 1), "rrrrrrrr"},
		{mesh("ByPolygonVertex", "IndexToDirect", list("r"), 0, 0, 0, 0, -1, 9, 0, 0), "rrrrwwrr"}, // without a value they are white
		{mesh("ByEdge", "Direct", list("rb")), ""},
	} {
		d := must.Get(ReadCharacter("a.fbx", binaryFile(7400, doll(t, c.mesh))))(t).Doc
		got := ""
		for _, p := range d.Meshes[0].Primitives {
			i, ok := p.Attributes[gltf.COLOR_0]
			if !ok {
				break
			}
			v := newShown(d).read(t, i, 4)
			for k := 0; k < len(v); k += 4 {
				got += map[[3]float64]string{{1, 0, 0}: "r", {0, 0, 1}: "b", {1, 1, 1}: "w"}[[3]float64(v[k:k+3])]
			}
		}
		if got != c.want {
			t.Errorf("%v: colours %s, want %s", c.mesh[len(c.mesh)-1], got, c.want)
		}
	}
}

// A picture names the set of texture coordinates that it uses.
func TestTextureCoordinates(t *testing.T) {
	set := func(name string, u float64) tree {
		return rec("LayerElementUV", 0, rec("Name", name), rec("MappingInformationType", "AllSame"), rec("ReferenceInformationType", "Direct"), rec("UV", []float64{u, 0}))
	}
	mesh := append(strip()[:2:2], set("first", 0.25), set("second", 0.75), strip()[4])
	for want, u := range map[string]float64{"first": 0.25, "second": 0.75, "none": 0.25, "": 0.25} {
		records := doll(t, mesh)
		for i, o := range records[1].below {
			if o.name == "Texture" {
				records[1].below[i] = rec("Texture", 12, "\x00\x01Texture", "", rec("Properties70", prop("UVSet", want)))
			}
		}
		d := must.Get(ReadCharacter("a.fbx", binaryFile(7400, records)))(t).Doc
		if got := newShown(d).read(t, d.Meshes[0].Primitives[0].Attributes[gltf.TEXCOORD_0], 2); got[0] != u || got[1] != 1 {
			t.Errorf("the set %q: coordinates %v, want %g, 1", want, got[:2], u)
		}
	}
}

// Polygons of any shape are covered once, by triangles with their front side.
func TestTriangles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 400 {
		n := 3 + r.IntN(12)
		flat := make([][2]float64, n)
		for i := range flat { // like a star around the origin
			angle, far := 2*math.Pi*(float64(i)+0.8*r.Float64())/float64(n), 0.1+r.Float64()
			flat[i] = [2]float64{far * math.Cos(angle), far * math.Sin(angle)}
		}
		if n == 3 {
			flat = [][2]float64{{0, 0}, {1, 0}, {0, 1}}
		}
		turn := euler([3]float64{360 * r.Float64(), 360 * r.Float64(), 360 * r.Float64()}, 0)
		at := func(i int) [3]float64 {
			m := of(&turn, [3]float64{1, 2, 3})
			return m.Apply(flat[i][0], flat[i][1], 0)
		}
		whole := newell(n, at)
		count, sum := 0, 0.0
		(&triangles{work: maxWork}).cut(n, at, func(a, b, c int) {
			three := [3]int{a, b, c}
			q := newell(3, func(i int) [3]float64 { return at(three[i]) })
			dot := q[0]*whole[0] + q[1]*whole[1] + q[2]*whole[2]
			if dot < 0 {
				t.Errorf("polygon %d of %d corners: the triangle %v shows its back", round, n, three)
			}
			count++
			sum += math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2])
		})
		if want := math.Sqrt(whole[0]*whole[0] + whole[1]*whole[1] + whole[2]*whole[2]); count != n-2 || math.Abs(sum/want-1) > 1e-9 {
			t.Errorf("polygon %d: %d triangles of %d corners cover %g of %g", round, count, n, sum, want)
		}
	}
	// Without work left it becomes a fan.
	count := 0
	(&triangles{}).cut(8, func(i int) [3]float64 { return [3]float64{math.Cos(float64(i)), math.Sin(float64(i)), 0} }, func(a, b, c int) { count++ })
	if count != 6 {
		t.Errorf("a fan of %d triangles", count)
	}
}

// A point follows the four joints with the largest weights, scaled to the sum 1; one without weights stays
// with its mesh.
func TestWeights(t *testing.T) {
	var extra []tree
	weights := []float64{0.1, 0.3, 0.2, 0.05, 0.25, 0.15}
	for i, w := range weights {
		extra = append(extra, limb(50+i, string(rune('a'+i))), cluster7(60+i, []int64{5}, []float64{w}, matrixAt(0, 0, 0), matrixAt(0, 0, 0)),
			link2(50+i, 2), link2(60+i, 7), link2(50+i, 60+i))
	}
	records := doll(t, strip(), extra...)
	objects := records[1].below
	for i := range objects { // nothing else pulls at the upper points
		if objects[i].values[0] == int64(9) {
			objects[i] = cluster7(9, []int64{2, 3}, []float64{1, 1}, matrixAt(0, 5, -40), matrixAt(0, 0, 40))
		}
	}
	c := must.Get(ReadCharacter("a.fbx", binaryFile(7400, records)))(t)
	s := newShown(c.Doc)
	all, _ := s.corners(t, s.worlds(t, nil, 0))
	v := all["Strip"]
	got, sum := v[7].joints, 0.3+0.25+0.2+0.15
	if len(got) != 4 || math.Abs(got["b"]-0.3/sum) > 1e-6 || math.Abs(got["e"]-0.25/sum) > 1e-6 || math.Abs(got["c"]-0.2/sum) > 1e-6 || math.Abs(got["f"]-0.15/sum) > 1e-6 {
		t.Errorf("weights %v", got)
	}
	if len(v[6].joints) != 1 || v[6].joints["Strip"] != 1 {
		t.Errorf("a point without weights: %v", v[6].joints)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, `1 vertices of "Strip" have no weights`) || !strings.Contains(notes, `1 points of "Strip" have more than four joints`) {
		t.Errorf("notes %s", notes)
	}
}

// Pictures lie beside the file, under the names that programs give them. One that is missing or of another
// format is a note.
func TestPictures(t *testing.T) {
	records := doll(t, strip())
	for i, o := range records[1].below {
		if o.name == "Video" {
			records[1].below[i] = rec("Video", 13, "\x00\x01Video", "Clip", rec("RelativeFilename", `C:\work\tex\shirt.png`))
		}
		if o.name == "Texture" {
			records[1].below[i] = rec("Texture", 12, "\x00\x01Texture", "", rec("FileName", `C:\work\tex\shirt.png`))
		}
	}
	for place, want := range map[string]string{"shirt.png": "", "textures/shirt.png": "", "hero.fbm/shirt.png": "", "": "no picture", "../shirt.png": "no picture"} {
		dir := filepath.Join(t.TempDir(), "x")
		must.Do(t, os.MkdirAll(dir, 0o755))
		file := filepath.Join(dir, "hero.fbx")
		must.Do(t, os.WriteFile(file, binaryFile(7400, records), 0o644))
		if place != "" {
			must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, place)), 0o755))
			must.Do(t, os.WriteFile(filepath.Join(dir, place), picture(t), 0o644))
		}
		c := must.Get(OpenCharacter(file))(t)
		notes := strings.Join(c.Notes, "\n")
		if want == "" && (len(c.Doc.Images) != 1 || notes != "") || want != "" && (len(c.Doc.Images) != 0 || !strings.Contains(notes, want)) {
			t.Errorf("a picture at %q: %d pictures, notes %q", place, len(c.Doc.Images), notes)
		}
		must.Get(OpenSkin(file))(t)
	}
	records = doll(t, strip())
	for i, o := range records[1].below {
		if o.name == "Video" {
			records[1].below[i] = rec("Video", 13, "\x00\x01Video", "Clip", rec("Content", []byte("a TGA")))
		}
	}
	c := must.Get(ReadCharacter("a.fbx", binaryFile(7400, records)))(t)
	if len(c.Doc.Images) != 0 || len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "want PNG or JPEG") {
		t.Errorf("another format: %v", c.Notes)
	}
}

// What cannot be read is refused with the place.
func TestCharacterRefused(t *testing.T) {
	with := func(change func(mesh []tree) []tree) []byte { return binaryFile(7400, doll(t, change(strip()))) }
	replace := func(k int, by tree) []byte {
		return with(func(m []tree) []tree { m[k] = by; return m })
	}
	in := func(old, by tree) []byte {
		records := doll(t, strip())
		for i, o := range records[1].below {
			if o.values[0] == old.values[0] {
				records[1].below[i] = by
			}
		}
		return binaryFile(7400, records)
	}
	nine := rec("", 9)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no mesh":     {binaryFile(7400, walker(zUp, body)), "has no mesh"},
		"curves":      {in(rec("", 6), rec("Geometry", 6, "\x00\x01Geometry", "NurbsSurface")), "curved surfaces, which are not read"},
		"no end":      {replace(1, rec("PolygonVertexIndex", []int64{0, 1, 2})), "its last polygon has no end"},
		"far point":   {replace(1, rec("PolygonVertexIndex", []int64{0, 1, ^99})), "corner 2 is at point 99, there are 6"},
		"NaN":         {replace(0, rec("Vertices", []float64{math.NaN(), 0, 0})), "coordinate 0 is NaN"},
		"weights":     {in(nine, cluster7(9, []int64{2}, []float64{1, 1}, matrixAt(0, 0, 0), matrixAt(0, 0, 0))), "2 weights for 1 points"},
		"far weight":  {in(nine, cluster7(9, []int64{7}, []float64{1}, matrixAt(0, 0, 0), matrixAt(0, 0, 0))), `a weight is of point 7, the mesh "Strip" has 6`},
		"NaN weight":  {in(nine, cluster7(9, []int64{2}, []float64{math.NaN()}, matrixAt(0, 0, 0), matrixAt(0, 0, 0))), "the weight of point 2 is NaN"},
		"matrix":      {in(nine, cluster7(9, []int64{2}, []float64{1}, []float64{1}, matrixAt(0, 0, 0))), "want a matrix of 16"},
		"wild matrix": {in(nine, cluster7(9, []int64{2}, []float64{1}, matrixAt(math.Inf(1), 0, 0), matrixAt(0, 0, 0))), "is not finite"},
		"cut":         {binaryFile(7400, doll(t, strip()))[:900], "byte "},
	} {
		for _, animate := range []bool{false, true} {
			if _, err := readCharacter(name, c.data, nil, animate); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), name+": ") {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
	}
	// A mesh without a skin, and without a joint above it.
	c := must.Get(ReadCharacter("a.fbx", in(rec("", 7), rec("Deformer", 7, "", "BlendShape"))))(t)
	if _, err := c.Skin(); err == nil || !strings.Contains(err.Error(), "has a skin") {
		t.Errorf("no skin: %v", err)
	}
}

// A character costs memory in proportion to its file.
func TestCharacterGrowth(t *testing.T) {
	read := func(b []byte) error {
		for _, animate := range []bool{false, true} {
			if _, err := readCharacter("a.fbx", b, nil, animate); err != nil {
				return err
			}
		}
		return nil
	}
	grid := func(n int) []tree { // n squares
		var points []float64
		var corners []int64
		for i := range n {
			x := float64(i) * math.Pi
			points = append(points, x, 0, 0, x+1, 0, math.Sin(x), x+1, 1, math.Cos(x), x, 1, 0)
			k := int64(4 * i)
			corners = append(corners, k, k+1, k+2, ^(k + 3))
		}
		mesh := strip()
		mesh[0], mesh[1] = rec("Vertices", points), rec("PolygonVertexIndex", corners)
		return doll(t, append(mesh[:2:2], mesh[4:]...))
	}
	growth.Check(t, 250, read,
		growth.Accepted("squares", func(n int) []byte { return binaryFile(7500, grid(n)) }),
		growth.Accepted("squares as text", func(n int) []byte { return asciiFile(7500, grid(n)) }),
	)
}

// Files that ask for much work or memory are refused, or read in short time.
func TestCharacterHostile(t *testing.T) {
	many := func(n int, part func(i int) []tree) (out []tree) {
		for i := range n {
			out = append(out, part(i)...)
		}
		return out
	}
	lines := make([]int64, 200000) // polygons of two corners
	for i := range lines {
		if lines[i] = 0; i%2 == 1 {
			lines[i] = ^0
		}
	}
	round := make([]int64, 200000) // one polygon of many corners, without normals
	flat := make([]float64, 3*len(round))
	for i := range round {
		round[i] = int64(i)
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(round)))
		far := 1 + float64(i%2) // notches
		flat[3*i], flat[3*i+1] = far*cos, far*sin
	}
	round[len(round)-1] = ^round[len(round)-1]
	with := func(points []float64, corners []int64, normals []float64) []tree {
		return []tree{rec("Vertices", points), rec("PolygonVertexIndex", corners),
			rec("LayerElementNormal", 0, rec("MappingInformationType", "AllSame"), rec("ReferenceInformationType", "Direct"), rec("Normals", normals))}
	}
	none := []float64{0, 0, 0}
	show := func(i int) []tree { // a model of the mesh, each at another place
		return []tree{rec("Model", 1000+i, "M\x00\x01Model", "Mesh", rec("Properties70", prop("GeometricTranslation", float64(i), 0.0, 0.0))), link2(6, 1000+i)}
	}
	skins := func(i int) []tree { // the same skin, often
		return []tree{rec("Deformer", 20000+i, "\x00\x01Deformer", "Skin"), link2(20000+i, 6), link2(8, 20000+i), link2(9, 20000+i)}
	}
	patches := func(n int) []tree { // squares, each with a material of its own
		mesh := strip()
		var corners, materials []int64
		for i := range n {
			corners, materials = append(corners, 0, 1, 2, ^3), append(materials, int64(i))
		}
		mesh[1], mesh[3] = rec("PolygonVertexIndex", corners), rec("LayerElementNone")
		mesh[4] = rec("LayerElementMaterial", 0, rec("MappingInformationType", "ByPolygon"), rec("ReferenceInformationType", "IndexToDirect"), rec("Materials", materials))
		return mesh
	}
	slides := func(n int, each []int64) []tree { // sliders, each of which moves all points as often as it names them
		out := []tree{rec("Deformer", 40, "\x00\x01Deformer", "BlendShape"), link2(40, 6)}
		out = append(out, rec("Geometry", 43, "\x00\x01Geometry", "Shape", rec("Indexes", each), rec("Vertices", make([]float64, 3*len(each)))))
		return append(out, many(n, func(i int) []tree {
			return []tree{rec("Deformer", 1000+i, "\x00\x01SubDeformer", "BlendShapeChannel"), link2(1000+i, 40), link2(43, 1000+i)}
		})...)
	}
	for name, c := range map[string]struct {
		records []tree
		want    string
	}{
		"blend shapes":           {doll(t, strip(), slides(5000, []int64{0})...), "more than 4096 blend shapes"},
		"points of blend shapes": {doll(t, patches(2000), slides(1, make([]int64, 20000))...), "blend shapes move more than"},
		"lines of many models":   {doll(t, with(strip()[0].values[0].([]float64), lines, none), many(8000, show)...), "corners and texture coordinates"},
		"squares of many models": {doll(t, strip(), many(10000, show)...), ""},
		"skins":                  {doll(t, strip(), many(20000, skins)...), ""},
		"a polygon with notches": {doll(t, with(flat, round, none)), ""},
	} {
		data := binaryFile(7400, c.records)
		start := time.Now()
		_, err := readCharacter(name, data, nil, true)
		took := time.Since(start)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		t.Logf("%s: %d bytes in %v", name, len(data), took)
		if took > 20*time.Second { // under a second on a free machine
			t.Errorf("%s: %d bytes take %v", name, len(data), took)
		}
	}
}

func FuzzCharacter(f *testing.F) {
	for _, data := range dolls(f) {
		f.Add(data)
	}
	for _, data := range formats(doll(f, strip(), smile()...)) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, animate := range []bool{false, true} {
			c, err := readCharacter("a.fbx", data, nil, animate)
			if err != nil {
				continue
			}
			// What is read is a valid document: the reader of glTF finds no fault but those of its own.
			s, err := c.Skin()
			if err == nil && (s.Vertices() < 3 || s.Triangles() < 1 || len(s.Joints()) < 1) {
				t.Fatalf("a skin of %d vertices, %d triangles, %d joints", s.Vertices(), s.Triangles(), len(s.Joints()))
			}
			if err != nil && strings.Contains(err.Error(), "accessors[") {
				t.Fatalf("the document is broken: %v", err)
			}
		}
	})
}
