package mannequin_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"image"
	"image/color"
	"io"
	"math"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mannequin/animsys"
	"mannequin/animsys/anatomy"
	"mannequin/animsys/blend"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/keypose"
	"mannequin/animsys/keypose/routines"
	"mannequin/animsys/latent"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/mann"
	"mannequin/animsys/mar"
	"mannequin/animsys/matching"
	"mannequin/animsys/resident"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/animsys/snapshot"
	"mannequin/animsys/strnn"
	"mannequin/ecs"
	"mannequin/engine/body"
	"mannequin/engine/clock"
	"mannequin/engine/draw"
	"mannequin/engine/hud"
	"mannequin/engine/m3"
	"mannequin/engine/media"
	"mannequin/engine/tape"
	"mannequin/ik"
	"mannequin/internal/testing/extreme"
	"mannequin/netruntime"
	"mannequin/netruntime/grad"
	"mannequin/netruntime/vec"
	"mannequin/terrain"

	arche "github.com/mlange-42/arche/ecs"
)

// linkedPackages are the packages that a game links.
var linkedPackages = strings.Fields(`
	animsys animsys/anatomy animsys/blend animsys/control animsys/feature animsys/generator animsys/keypose
	animsys/keypose/routines animsys/latent animsys/layer animsys/manifold animsys/mann animsys/mar animsys/matching animsys/resident animsys/retarget animsys/skel animsys/skin animsys/snapshot animsys/strnn
	ecs engine/body engine/clock engine/draw engine/hud engine/m3 engine/media engine/tape ik netruntime netruntime/grad netruntime/vec terrain`)

// linked are their exported types, as pointers to zero values, and their exported functions.
var linked = []any{

	new(animsys.Aim), new(animsys.Blend), new(animsys.Clips), new(animsys.Event), new(animsys.EventKind), new(animsys.Layers), new(animsys.Collide), new(animsys.Crowd), new(animsys.Gather), new(animsys.Generate), new(animsys.Ground), new(animsys.Infer),
	new(animsys.LODPolicy), new(animsys.Options), new(animsys.Plan), new(animsys.PoseTarget), new(animsys.Publish), new(animsys.Sample), new(animsys.Scatter),
	new(animsys.SelectLOD), new(animsys.Side), new(animsys.Style), new(animsys.UpdateRate),
	animsys.DefaultLOD, animsys.GroundClip, animsys.Restore, animsys.Save, animsys.ShiftOrigin, animsys.StandClip, animsys.Systems,

	new(control.Action), new(control.Avoidance), new(control.Flow), new(control.Goal), new(control.Obstacle), new(control.Obstacles), new(control.Path), new(control.Route), new(control.Script), new(control.Walker), new(control.Wander),
	control.Box, control.Builtin, control.Circle, control.Meander, control.NewFlow, control.NewPath, control.NewWander, control.OpenPath, control.OpenScript,
	control.ParseAction, control.Pillar, control.ReadPath, control.ReadScript, control.Square, control.Star, control.Steer, control.Wall,

	new(keypose.FootLock), new(keypose.Inbetweener), new(keypose.InbetweenerOptions), new(keypose.InputEncoder), new(keypose.Key), new(keypose.KeyError),
	new(keypose.Keys), new(keypose.Layout), new(keypose.Model), new(keypose.Performance), new(keypose.PoseLoop), new(keypose.Segments),
	new(keypose.SparseInbetweener), new(keypose.SparseModel), new(keypose.Stream), new(keypose.StreamOptions), new(keypose.Track), new(keypose.Tree),
	new(keypose.Waypoint),
	keypose.Describe, keypose.DescribeSparseModel, keypose.NewLayout, keypose.NewModel, keypose.NewSparseModel,

	new(routines.Author),
	routines.Names, routines.NewAuthor,

	new(manifold.ActionSynthesizer), new(manifold.Curve), new(manifold.Edit), new(manifold.EditReport), new(manifold.Editor), new(manifold.EditorOptions),
	new(manifold.Gait), new(manifold.Gap), new(manifold.GramOptimizer), new(manifold.GramOptimizerOptions), new(manifold.Locomotion),
	new(manifold.LocomotionClip), new(manifold.LocomotionOptions), new(manifold.LocomotionReport), new(manifold.Model), new(manifold.Networks),
	new(manifold.PoseStyler), new(manifold.Stream), new(manifold.StreamOptions), new(manifold.Style), new(manifold.StyleJob), new(manifold.StyleReport), new(manifold.StyleSet),
	new(manifold.StylePair), new(manifold.StyleStart), new(manifold.StyleTransfer), new(manifold.StyleTransferOptions), new(manifold.StyleWeights), new(manifold.Target),
	new(manifold.TargetError), new(manifold.Trajectory), new(manifold.Walk), new(manifold.Walker), new(manifold.WalkerOptions),
	new(manifold.WeightedStyle),
	manifold.AlongPath, manifold.CheckStyleNames, manifold.DecodeStyleSet, manifold.Describe, manifold.NewModel, manifold.NewNetworks, manifold.NewPoseStyler,
	manifold.OpenStyleSet,

	new(latent.Coder), new(latent.CoderOptions), new(latent.Components), new(latent.Fit), new(latent.Model), new(latent.NextClip), new(latent.Sliders),
	new(latent.Steering), new(latent.Stream), new(latent.StreamOptions), new(latent.Trait),
	latent.Describe, latent.DescribeNextClip, latent.NewComponents, latent.NewModel, latent.OverlapWeight, latent.Traits,

	new(strnn.Control), new(strnn.ControlWeights), new(strnn.Controller), new(strnn.ControllerOptions), new(strnn.Denoiser), new(strnn.DenoiserOptions),
	new(strnn.FineTuner), new(strnn.Groups), new(strnn.Guide), new(strnn.GuideOptions), new(strnn.Linear), new(strnn.Model), new(strnn.Predictor),
	new(strnn.PredictorOptions), new(strnn.Steer), new(strnn.Stream), new(strnn.StreamOptions),
	strnn.DefaultControlWeights, strnn.Describe, strnn.GroupsOf, strnn.GuideInputs, strnn.NewModel,

	new(layer.Below), new(layer.Clip), new(layer.ClipOptions), new(layer.Mark), new(layer.Marker), new(layer.Mask), new(layer.PlayOptions), new(layer.Player),
	layer.Arms, layer.Head, layer.Joints, layer.New, layer.NewOwn, layer.NewPlayer, layer.Tail, layer.UpperBody, layer.Weighted,

	new(mann.Ahead), new(mann.Batch), new(mann.Controller), new(mann.ControllerOptions), new(mann.Model), new(mann.Shader), new(mann.Tuning),
	mann.DefaultTuning, mann.Describe, mann.Jumps, mann.NewBatch, mann.NewFollower, mann.NewModel,

	new(resident.Crowd), new(resident.Mesh), new(resident.Options), new(resident.Root),
	resident.New, resident.NewLearned, resident.Stand,

	new(matching.Act), new(matching.Adaptive), new(matching.AdaptiveStream), new(matching.Character), new(matching.Clip), new(matching.Database), new(matching.File), new(matching.Idle), new(matching.Learned), new(matching.LearnedStream),
	new(matching.Networks), new(matching.Options), new(matching.Shader), new(matching.ShaderPlaces), new(matching.Span), new(matching.Stream), new(matching.StreamOptions), new(matching.Tags), new(matching.Target),
	new(matching.Tuning), new(matching.Way), new(matching.Weights),
	matching.Build, matching.Decode, matching.DecodeFile, matching.DefaultTuning, matching.DefaultWeights, matching.NewAdaptive, matching.NewLearned, matching.NewNetwork, matching.Open,
	matching.OpenFile, matching.ResponsiveTuning, matching.Roots, matching.WriteTags,

	new(mar.Database), new(mar.Label), new(mar.Neighbour), new(mar.Options), new(mar.Retimer), new(mar.StyleTranslator), new(mar.StyleTranslatorOptions),
	new(mar.Take),
	mar.Decode, mar.Match, mar.NewDatabase, mar.Open,

	new(blend.Inertial),
	blend.NewInertial,

	new(feature.Bend), new(feature.Bone), new(feature.Centring), new(feature.Column), new(feature.Contact), new(feature.Cost), new(feature.CostWeights),
	new(feature.MANN), new(feature.Motion), new(feature.Person), new(feature.Place), new(feature.Places16), new(feature.Point16), new(feature.SchemaError), new(feature.Span),
	feature.DescribePerson, feature.Dog, feature.Finite, feature.Human, feature.Mirror, feature.Mix16, feature.NewPerson, feature.Pairs, feature.ReadPerson, feature.Round16, feature.Smooth,
	feature.Within,

	new(retarget.Character), new(retarget.Foot), new(retarget.Options), new(retarget.Tube),
	retarget.New,

	new(skel.Clip), new(skel.Mirror), new(skel.Skeleton),
	skel.NewClip, skel.NewMirror,

	new(anatomy.Body), new(anatomy.Box), new(anatomy.Evidence), new(anatomy.Kind), new(anatomy.Limb), new(anatomy.Rig), new(anatomy.Role), new(anatomy.Side),
	anatomy.AsNamed, anatomy.Find, anatomy.Groups, anatomy.Guess, anatomy.Joint, anatomy.NameOf, anatomy.Named, anatomy.OfClip, anatomy.OtherSides, anatomy.Sided, anatomy.Still,

	new(snapshot.Codec), new(snapshot.Message),
	snapshot.NewCodec,

	new(skin.Character), new(skin.CharacterOptions), new(skin.Error), new(skin.Meta), new(skin.Motion), new(skin.Pair), new(skin.Report), new(skin.Skin),
	skin.FromDocument, skin.OnFours, skin.Open, skin.OpenCharacter, skin.OpenMap, skin.OpenMotions, skin.ReadMap, skin.ReadMotions, skin.Read, skin.Write,
	new(skin.AddOptions), new(skin.AddReport), new(skin.Rig), new(skin.RigFit),
	skin.AddMotions, skin.AppendMotions, skin.OntoRig, skin.OpenRig, skin.PackMotions, skin.ReadRig, skin.WriteVRMA,

	new(generator.Disc), new(generator.Poses), new(generator.Rig), new(generator.Space), new(generator.State), new(generator.Style), new(generator.Surroundings),
	generator.Goal, generator.Human, generator.NewRig, generator.Person, generator.Placeable, generator.Workers,

	new(ik.Arm), new(ik.Arms), new(ik.Body), new(ik.CCD), new(ik.Foot), new(ik.FootLock), new(ik.FullBody), new(ik.FullBodyScratch), new(ik.Gaze), new(ik.Going),
	new(ik.GazeState), new(ik.HandState), new(ik.Leg), new(ik.Legged), new(ik.Level), new(ik.Posture), new(ik.Rig), new(ik.Roles), new(ik.Step), new(ik.Tree),
	ik.BodyOn, ik.DefaultDog, ik.DefaultFullBody, ik.DefaultHuman, ik.DogGaze, ik.DogRoles, ik.HumanArms, ik.HumanGaze, ik.HumanRoles, ik.NewHumanRig, ik.NewPosture,
	ik.NewRig, ik.NewTree,

	new(terrain.Deck), new(terrain.Decks), new(terrain.Edges), new(terrain.Field), new(terrain.Grid), new(terrain.HillsOptions), new(terrain.Mesh), new(terrain.Rock),
	terrain.Flat, terrain.Hills, terrain.NewMesh, terrain.Slope, terrain.Steps,

	new(ecs.Clock), new(ecs.Fault), new(ecs.Foot), new(ecs.GramStyle), new(ecs.Hand), new(ecs.LookAt), new(ecs.MARStyle), new(ecs.Reach), new(ecs.Rows), new(ecs.Step),
	new(ecs.Schedule), new(ecs.Slot),
	ecs.Alive, ecs.NewRows, ecs.NewSchedule,

	new(m3.Decay), new(m3.Quat), new(m3.Quat48), new(m3.Turn), new(m3.Vec3), new(m3.Xform),
	m3.Abs, m3.Acos, m3.Atan2, m3.AxisAngle, m3.Between, m3.Clamp, m3.Cos, m3.DampTo, m3.DecayVec, m3.NewDecay, m3.Exp, m3.Exp64, m3.Finite, m3.FromAxes,
	m3.FromRotationVector, m3.Lerp, m3.LookRotation, m3.Pow, m3.Pow64, m3.Sin, m3.SmoothStep, m3.Spring, m3.SpringVec, m3.Sqrt, m3.TurnAbout, m3.V, m3.WrapAngle, m3.YawOf, m3.YawQuat,

	new(clock.Budget), new(clock.Fixed),
	clock.New, clock.NewBudget,

	new(tape.CutError), new(tape.FormatError), new(tape.MismatchError), new(tape.Reader), new(tape.Writer),
	tape.NewReader, tape.NewWriter, tape.Verify,

	new(body.Body), new(body.Cover), new(body.Material), new(body.Mesh), new(body.Part), new(body.Rig),
	body.Adopt, body.New, body.Stand,

	new(draw.Camera), new(draw.Motion),
	draw.ClipSheet, draw.Dot, draw.Fill, draw.Front, draw.Grid, draw.Line, draw.Mesh, draw.New, draw.Path, draw.Positions, draw.Sheet, draw.Side, draw.SideOf,
	draw.Skeleton, draw.Text, draw.TextSize, draw.ThreeQuarter, draw.Top,

	new(hud.Block), new(hud.Button), new(hud.Graph), new(hud.Line), new(hud.Overlay), new(hud.Panel), new(hud.Recent), new(hud.Slider), new(hud.Touch),
	hud.NewRecent, hud.OverlayNames, hud.ParseOverlays,

	new(media.Options),
	media.Check, media.Create, media.FFmpeg,

	new(netruntime.FormatError), new(netruntime.Found), new(netruntime.Graph), new(netruntime.GraphError), new(netruntime.Input), new(netruntime.Meta), new(netruntime.NearestOpener), new(netruntime.Net),
	new(netruntime.Node), new(netruntime.Opener), new(netruntime.Pins), new(netruntime.Points), new(netruntime.Sequences), new(netruntime.SessionOptions), new(netruntime.Storage), new(netruntime.Tensor),
	new(netruntime.TensorError), new(netruntime.UnsupportedError), new(netruntime.Value), new(netruntime.Want),
	netruntime.Aside, netruntime.Buffer, netruntime.Decode, netruntime.DecodeArrays, netruntime.Embedded, netruntime.EncodeArrays,
	netruntime.ForceKernels, netruntime.HasBF16, netruntime.KernelFamilies, netruntime.Kernels, netruntime.New, netruntime.NewPool, netruntime.Open, netruntime.Rounding,

	new(vec.Half), vec.Add, vec.Axpy, vec.BoxDistances16, vec.Clamp, vec.Distances16, vec.Dot, vec.MulAdd, vec.Normalize, vec.Scale, vec.SumSquares, vec.ToHalf,

	new(grad.BatchStats), new(grad.Mat), new(grad.Network), new(grad.Param), new(grad.Skeleton), new(grad.Tape), new(grad.Term),
	grad.AdaDelta, grad.AdamW, grad.Hash, grad.NewBatchStats, grad.NewNetwork, grad.NewParam, grad.NewPool, grad.NewTape, grad.Penalize,
}

// excused are exported functions and methods that are not tried.
var excused = map[string]string{
	"netruntime.PeakGFLOPS":          "runs for as long as it is asked to",
	"animsys/generator.Poses.Joints": "a slice of a slice, by the caller's indices",
	"animsys.Crowd.Joints":           "likewise",
	"animsys/feature.Place.Joints":   "wants three values of a frame for each point",
	"animsys/strnn.BodyMotionAlong":  "wants three values for each place",
	"animsys/strnn.HalveRate":        "wants twice as many rows as it writes",
	"animsys/strnn.DoubleRate":       "writes twice as many rows",
	"animsys/strnn.MannerOf":         "wants two values for each column",
}

// args are arguments that have no useful zero value.
var args = extreme.Made{
	reflect.TypeFor[*arche.World]():  func() any { w := arche.NewWorld(); return &w },
	reflect.TypeFor[io.Reader]():     func() any { return strings.NewReader("") },
	reflect.TypeFor[io.Writer]():     func() any { return io.Discard },
	reflect.TypeFor[ik.Ground]():     func() any { return ik.Level(0) },
	reflect.TypeFor[image.Image]():   func() any { return image.NewRGBA(image.Rect(0, 0, 2, 2)) },
	reflect.TypeFor[*image.RGBA]():   func() any { return image.NewRGBA(image.Rect(0, 0, 2, 2)) },
	reflect.TypeFor[color.Color]():   func() any { return color.White },
	reflect.TypeFor[*grad.Pool]():    func() any { return grad.NewPool(1) },
	reflect.TypeFor[*grad.Mat]():     func() any { return new(grad.Tape).Input(2, 2) },
	reflect.TypeFor[*grad.Param]():   func() any { return grad.NewParam("made up", 2, 2) },
	reflect.TypeFor[error]():         func() any { return errors.New("made up") },
	reflect.TypeFor[*bytes.Buffer](): func() any { return &bytes.Buffer{} },
}

var (
	prefixed   = regexp.MustCompile(`^(\w+): `)
	outOfRange = regexp.MustCompile(`index out of range \[(-?\d+)\]`)
	ofNothing  = regexp.MustCompile(`out of range .*(\[:?-\d+\]|with (length|capacity) 0)$`)
)

// allowed reports whether a panic is one of a package's own, which names it, or that of an index
// that the caller gave: rows and joints are indices, as of slices.
func allowed(p any, in []reflect.Value, method bool) bool {
	text := fmt.Sprint(p)
	if m := prefixed.FindStringSubmatch(text); m != nil {
		return m[1] == "image" || m[1] == "kernel" || slices.ContainsFunc(linkedPackages, func(pkg string) bool { return path.Base(pkg) == m[1] })
	}
	if m := outOfRange.FindStringSubmatch(text); m != nil && slices.ContainsFunc(in, func(v reflect.Value) bool { return v.CanInt() && strconv.FormatInt(v.Int(), 10) == m[1] }) {
		return true
	}
	// A zero value has no rows, and nothing has rows below 0.
	if method && ofNothing.MatchString(text) && slices.ContainsFunc(in, reflect.Value.CanInt) {
		return true
	}
	// A count beyond the memory of any machine fails as in make.
	return strings.Contains(text, "makeslice") && slices.ContainsFunc(in, func(v reflect.Value) bool { return v.CanInt() && v.Int() == math.MaxInt })
}

// try calls f with first and with arguments of extreme numbers. It must return, and panic only as allowed.
func try(t *testing.T, name string, f reflect.Value, first ...reflect.Value) {
	t.Helper()
	for _, x := range extreme.Numbers {
		in := slices.Clone(first)
		for i := len(in); i < f.Type().NumIn(); i++ {
			if f.Type().IsVariadic() && i == f.Type().NumIn()-1 {
				break
			}
			v := reflect.New(f.Type().In(i)).Elem()
			args.Fill(v, x)
			in = append(in, v)
		}
		fault := make(chan string, 1)
		go func() {
			defer func() {
				p := recover()
				if p != nil && !allowed(p, in, len(first) > 0) {
					fault <- fmt.Sprintf("panics: %v\n%s", p, debug.Stack())
					return
				}
				fault <- ""
			}()
			for _, out := range f.Call(in) {
				if c, ok := out.Interface().(interface{ Close() }); ok && !out.IsNil() {
					c.Close()
				}
			}
		}()
		select {
		case p := <-fault:
			if p != "" {
				t.Errorf("%s with %g %s", name, x, p)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s with %g has not returned after a minute", name, x)
		}
		if len(in) == len(first) {
			return
		}
	}
}

// Zero values of what a game links do nothing or return an error, whatever numbers their methods
// get, and so do functions.
func TestZeroValues(t *testing.T) {
	known := map[string]bool{}
	for _, x := range linked {
		v := reflect.ValueOf(x)
		if v.Kind() == reflect.Func {
			name := strings.TrimPrefix(runtime.FuncForPC(v.Pointer()).Name(), module+"/")
			known[name] = true
			try(t, name, v)
			continue
		}
		ty := v.Type().Elem()
		name := strings.TrimPrefix(ty.PkgPath(), module+"/") + "." + ty.Name()
		known[name] = true
		job, ok := x.(interface{ Validate() error })
		for i := range v.Type().NumMethod() {
			m := v.Type().Method(i)
			if excused[name+"."+m.Name] != "" {
				continue
			}
			if m.Name != "Validate" && ok && job.Validate() != nil {
				continue // jobs run once they are valid
			}
			try(t, name+"."+m.Name, m.Func, reflect.New(ty))
		}
	}
	files := token.NewFileSet()
	for _, dir := range linkedPackages {
		pages, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(pages) == 0 {
			t.Fatal(dir, "has no files", err)
		}
		for _, page := range pages {
			if strings.HasSuffix(page, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(files, page, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range exported(file) {
				name = dir + "." + name
				if !known[name] && excused[name] == "" {
					t.Errorf("%s is missing in linked", name)
				}
			}
		}
	}
}

// exported returns the names of a file's exported types and functions that have zero values and
// can be called as they are: no interfaces, and nothing with type parameters.
func exported(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() && d.Type.TypeParams == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && s.TypeParams == nil && !s.Assign.IsValid() {
					if _, isInterface := s.Type.(*ast.InterfaceType); !isInterface {
						names = append(names, s.Name.Name)
					}
				}
			}
		}
	}
	return names
}
