package inspect

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strings"

	"mannequin/animsys"
	"mannequin/animsys/anatomy"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/engine/body"
	"mannequin/engine/draw"
	"mannequin/engine/m3"
	"mannequin/internal/atomicfile"
	"mannequin/offline/certify"
)

// colours of roles; others are grey.
var colours = map[anatomy.Role]color.RGBA{
	"hips": {20, 20, 20, 255}, "spine": {50, 140, 80, 255}, "neck": {120, 190, 60, 255}, "head": {150, 60, 170, 255},
	"left leg": {38, 97, 176, 255}, "right leg": {200, 60, 50, 255}, "left arm": {60, 180, 220, 255}, "right arm": {240, 150, 40, 255},
	"fore left leg": {60, 180, 220, 255}, "fore right leg": {240, 150, 40, 255},
	"hind left leg": {38, 97, 176, 255}, "hind right leg": {200, 60, 50, 255},
	"left wing": {0, 150, 160, 255}, "right wing": {200, 110, 150, 255}, "tail": {130, 90, 40, 255}, "trunk": {110, 110, 200, 255},
}

var other = color.RGBA{150, 150, 150, 255}

// scene is a character, or the skeleton of a motion, in several poses.
type scene struct {
	body    *anatomy.Body
	parents []int16
	ends    []bool
	labels  []string
	poses   [][]m3.Vec3 // joints
	meshes  [][]m3.Vec3 // vertices of each pose; nil: no mesh
	index   []uint32
}

// skinScene is a skin at rest and in test poses, and in some frames of a motion of its file, which may be nil.
func skinScene(s *skin.Skin, body *anatomy.Body, own *skin.Motion) *scene {
	sk, at := s.Skeleton()
	v := &scene{body: body, parents: hung(sk.Parents, body), ends: sk.EndSite}
	var pos []m3.Vec3
	pos, v.index = s.Mesh()
	v.add("at rest", at, pos)
	for _, pose := range []struct {
		label  string
		amount float32
	}{{"test pose, left ahead", 1}, {"right ahead", -1}} {
		v.move(pose.label, s, at, body.Exercise(sk.Parents, pose.amount))
	}
	for i := range 2 {
		if own != nil {
			f := (2*i + 1) * own.Clip.Frames / 4
			v.move(fmt.Sprintf("%s, frame %d", own.Name, f), s, at, s.Frame(own, f))
		}
	}
	return v
}

// move adds a pose of a skin whose joints, at rest at at, are moved by by.
func (v *scene) move(label string, s *skin.Skin, at []m3.Vec3, by []m3.Xform) {
	if len(by) != len(at) {
		return // a skeleton that is no tree of joints
	}
	moved := make([]m3.Vec3, len(at))
	for j := range at {
		moved[j] = by[j].Apply(at[j])
	}
	v.add(label, moved, s.Moved(by))
}

// ownMotion returns the motion of a skin's file that shows how it moves: a walk, or else the longest; nil if there is none.
func ownMotion(motions []skin.Motion) (best *skin.Motion) {
	walks := func(m *skin.Motion) bool { return strings.Contains(strings.ToLower(m.Name), "walk") }
	for i := range motions {
		m := &motions[i]
		if best == nil || walks(m) && !walks(best) || walks(m) == walks(best) && m.Clip.Frames > best.Clip.Frames {
			best = m
		}
	}
	return best
}

// hung returns the parents by which bones are drawn: a foot that hangs elsewhere in the tree is drawn at
// the end of its leg.
func hung(parents []int16, body *anatomy.Body) []int16 {
	out := slices.Clone(parents)
	for _, l := range body.Legs {
		if i := slices.Index(l.Chain, l.Foot); i > 0 {
			out[l.Foot] = int16(l.Chain[i-1])
		}
	}
	return out
}

// motionScene is a motion's skeleton at rest and in some frames.
func motionScene(c *skel.Clip, body *anatomy.Body) *scene {
	v := &scene{body: body, parents: c.Skel.Parents, ends: c.Skel.EndSite}
	v.add("at rest", restPlaces(c.Skel), nil)
	model := make([]m3.Xform, c.Skel.Len())
	for i := range min(3, c.Frames) {
		f := i * (c.Frames - 1) / 2
		c.Model(model, f)
		v.add(fmt.Sprintf("frame %d", f), draw.Positions(model), nil)
	}
	return v
}

// playScene is a character at rest and in some frames of a test motion.
func playScene(roles *anatomy.Body, ch *skin.Character, m *certify.Motion) *scene {
	own := ch.Bones.Skel
	n := len(roles.Roles()) // joints that were made for feet come after
	turned := *roles
	turned.Up, turned.Ahead = m3.Up, m3.V(0, 0, 1)
	mesh := &ch.Body.Levels[0]
	v := &scene{body: &turned, parents: hung(own.Parents[:n], roles), ends: own.EndSite, index: mesh.Index}
	v.add("at rest", draw.Positions(ch.Bones.Rest)[:n], mesh.Pos)
	pose := make([]m3.Xform, ch.Bones.Len())
	for _, second := range []int{4, 8, 12, 18} { // it stands, walks, runs and goes sideways
		f := min(second*animsys.TickRate, len(m.Poses)-1)
		ch.Bones.Pose(pose, m.Poses[f], [2]float32{}, nil, nil)
		legs := m.Roles.Legs[len(m.Roles.Legs)-2:] // those of the hips
		left, right := m.Poses[f][legs[0][len(legs[0])-4]].Pos, m.Poses[f][legs[1][len(legs[1])-4]].Pos
		back := m3.Xform{Pos: left.Lerp(right, 0.5).Flat().Scale(ch.Bones.Scale), Rot: m3.YawQuat(m3.YawOf(left.Sub(right).Cross(m3.Up)))}.Inv()
		for j := range pose {
			pose[j] = back.Mul(pose[j])
		}
		v.add(fmt.Sprintf("after %d s", second), draw.Positions(pose)[:n], skinned(mesh, ch.Body.Bind, pose))
	}
	return v
}

// skinned returns the vertices of a mesh in a pose.
func skinned(m *body.Mesh, bind, pose []m3.Xform) []m3.Vec3 {
	move := make([]m3.Xform, len(pose))
	for j := range pose {
		move[j] = pose[j].Mul(bind[j].Inv())
	}
	out := make([]m3.Vec3, len(m.Pos))
	for v, p := range m.Pos {
		for i, w := range m.Weights[v] {
			out[v] = out[v].Add(move[m.Joints[v][i]].Apply(p).Scale(w))
		}
	}
	return out
}

func restPlaces(s *skel.Skeleton) []m3.Vec3 {
	at := make([]m3.Vec3, s.Len())
	for j, p := range s.Parents {
		if at[j] = s.Offsets[j]; p >= 0 {
			at[j] = at[j].Add(at[p])
		}
	}
	return at
}

// add adds a pose, turned so that the body stands on +Y and faces +Z.
func (v *scene) add(label string, joints, mesh []m3.Vec3) {
	up, ahead := v.body.Up, v.body.Ahead
	turn := m3.FromAxes(up.Cross(ahead), up, ahead).Conj()
	turned := func(in []m3.Vec3) []m3.Vec3 {
		out := make([]m3.Vec3, len(in))
		for i, p := range in {
			out[i] = turn.Rotate(p)
		}
		return out
	}
	v.labels, v.poses = append(v.labels, label), append(v.poses, turned(joints))
	v.meshes = append(v.meshes, turned(mesh))
}

// draw returns the poses from the front and from the right, and the legend beside them.
func (v *scene) draw(title string) image.Image {
	const w, h, head, legend = 380, 400, 26, 430
	var lines []string
	for _, l := range v.body.Describe() {
		lines = append(lines, wrap(l, legend-20)...)
	}
	height := max(2*h+head, head+20*(len(lines)+len(colours)))
	img := draw.New(w*len(v.poses)+legend, height, draw.Paper)
	draw.Text(img, 8, 6, 15, draw.Ink, title)
	size := float32(0)
	for i := range v.poses {
		_, s := v.box(i)
		size = max(size, s)
	}
	for i := range v.poses {
		centre, _ := v.box(i)
		for k, view := range []string{"front", "from the right"} {
			cam := draw.Front(centre, size)
			if k == 1 {
				cam = draw.Side(centre, size)
			}
			// The cameras stand ten units away, which may be inside a large body.
			cam.Eye = centre.Add(cam.Eye.Sub(centre).Scale(1 + size))
			tile := draw.New(w, h, color.RGBA{240, 240, 236, 255})
			if len(v.meshes[i]) > 0 {
				draw.Mesh(tile, cam, v.meshes[i], v.index, color.RGBA{214, 214, 218, 255})
			}
			v.bones(tile, cam, v.poses[i])
			draw.Text(tile, 8, 6, 13, draw.Ink, v.labels[i]+", "+view)
			paste(img, tile, i*w+2, head+k*h+2)
		}
	}
	x, y := w*len(v.poses)+14, head+6
	roles := v.body.Roles()
	used := map[anatomy.Role]bool{}
	for _, r := range roles {
		used[r] = true
	}
	for _, r := range []anatomy.Role{"hips", "spine", "neck", "head", "left arm", "right arm", "fore left leg", "fore right leg",
		"left leg", "right leg", "hind left leg", "hind right leg", "left wing", "right wing", "tail", "trunk"} {
		if used[r] {
			draw.Fill(img, image.Rect(x, y+2, x+14, y+14), colours[r])
			draw.Text(img, x+22, y, 13, draw.Ink, string(r))
			y += 18
		}
	}
	y += 8
	for _, l := range lines {
		draw.Text(img, x, y, 11, draw.Ink, l)
		y += 16
	}
	return img
}

// wrap breaks a line of text that is wider than width pixels.
func wrap(line string, width int) (out []string) {
	const size = 11
	text := ""
	for _, word := range strings.Split(line, " ") {
		next := text + " " + word
		if text == "" {
			next = word
		}
		if w, _ := draw.TextSize(size, next); w > width && strings.TrimSpace(text) != "" {
			out = append(out, text)
			next = strings.Repeat(" ", anatomy.Column) + word
		}
		text = next
	}
	return append(out, text)
}

// bones draws a pose, with joints and the bones above them in the colours of their roles.
func (v *scene) bones(img *image.RGBA, cam draw.Camera, at []m3.Vec3) {
	roles := v.body.Roles()
	colour := func(j int) color.RGBA {
		if c, ok := colours[roles[j]]; ok {
			return c
		}
		return other
	}
	if len(roles) != len(at) {
		roles = make([]anatomy.Role, len(at))
	}
	draws := func(j int, width float32) {
		if p := int(v.parents[j]); p >= 0 && at[j].Finite() && at[p].Finite() {
			draw.Line(img, cam, at[p], at[j], width, colour(j))
		}
	}
	for j := range at {
		if roles[j] == "" && !v.ends[j] {
			draws(j, 1)
		}
	}
	for j := range at {
		if roles[j] != "" {
			draws(j, 2.5)
		}
	}
	for j := range at {
		size := float32(4)
		if roles[j] != "" {
			size = 8
		}
		if !v.ends[j] || roles[j] != "" {
			draw.Dot(img, cam, at[j], size, colour(j))
		}
	}
}

// box returns the middle of a pose and the height of a view that shows all of it.
func (v *scene) box(i int) (centre m3.Vec3, size float32) {
	points := v.meshes[i]
	if len(points) == 0 {
		points = v.poses[i]
	}
	first := true
	var lo, hi m3.Vec3
	for _, p := range points {
		if !p.Finite() {
			continue
		}
		if first {
			lo, hi, first = p, p, false
		}
		lo = m3.V(min(lo.X, p.X), min(lo.Y, p.Y), min(lo.Z, p.Z))
		hi = m3.V(max(hi.X, p.X), max(hi.Y, p.Y), max(hi.Z, p.Z))
	}
	d := hi.Sub(lo)
	return lo.Lerp(hi, 0.5), 1.15 * max(d.X, d.Y, d.Z, 1e-3)
}

func paste(dst, src *image.RGBA, x, y int) {
	for row := range src.Rect.Dy() {
		if y+row < dst.Rect.Dy() {
			copy(dst.Pix[dst.PixOffset(x, y+row):], src.Pix[src.PixOffset(0, row):src.PixOffset(0, row)+4*src.Rect.Dx()])
		}
	}
}

func writePicture(path string, img image.Image) error {
	return atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, img) })
}
