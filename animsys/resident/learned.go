package resident

import (
	"errors"

	"mannequin/animsys/blend"
	"mannequin/animsys/control"
	"mannequin/animsys/feature"
	"mannequin/animsys/generator"
	"mannequin/animsys/internal/kernels"
	"mannequin/animsys/matching"
	"mannequin/animsys/skel"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/netruntime"
)

// NewLearned returns a crowd of people or animals of learned motion matching, such as models/hero, without agents. They have the skeleton's
// size: see matching.Character.Size.
func NewLearned(l *matching.Learned, o Options) (*Crowd, error) {
	return newCrowd(o, func() (motion, error) {
		rows, err := newStreamed(l, 1, 1)
		if err != nil {
			return nil, err
		}
		// Until agents pass through, there is none.
		rows.stream.Remove(0)
		goals, err := rows.stream.NewShader(matching.ShaderPlaces{})
		if err != nil {
			return nil, errors.Join(err, rows.end())
		}
		rows.goals = goals
		return &learned{streamed: *rows, of: l}, nil
	})
}

// learned is the motion of learned motion matching.
type learned struct {
	streamed
	of *matching.Learned
}

func (l *learned) skeleton() *skel.Skeleton                   { return l.of.Skel }
func (l *learned) rig(roles *ik.Roles) (generator.Rig, error) { return l.stream.Rig(roles) }
func (l *learned) goalLen() int                               { return matching.GoalLen }
func (l *learned) putGoal(words []float32, g *control.Goal)   { l.goals.PutGoal(words, g) }
func (l *learned) leave()                                     { l.stream.Remove(0) }
func (l *learned) close() error                               { return l.end() }

func (l *learned) networks() []*netruntime.Net {
	n := l.of.Networks()
	return []*netruntime.Net{n.Projector, n.Stepper, n.Decompressor}
}

func (l *learned) stages() []stage {
	return []stage{
		{kernel: "plan", each: true}, {}, {kernel: "choose", each: true},
		{kernel: "feed_stepper", network: 1}, {network: 1}, {kernel: "advance", network: 1, each: true},
		{kernel: "feed_decompressor", network: 2}, {network: 2}, {kernel: "show", network: 2}, {kernel: "ease", network: 2},
	}
}

func (l *learned) shader(at []places) (*kernels.Text, int, error) {
	var of matching.ShaderPlaces
	for i, p := range at {
		of[i].In, of[i].Out = p.in, p.out
	}
	s, err := l.stream.NewShader(of)
	if err != nil {
		return nil, 0, err
	}
	text := &kernels.Text{Tables: s.Tables}
	text.WriteString(s.Source)
	n := s.RowLen + l.eases.PackLen()
	text.Whole("row_size", n)
	text.WriteString(l.eases.Shader(s.RowLen))
	return text, n, nil
}

func (l *learned) bring(at feature.Place) error {
	l.eases.Reset(0)
	_, err := l.stream.Add(at, nil)
	return err
}

func (l *learned) restore(st *generator.State) (control.Goal, error) {
	if _, err := l.stream.Restore(st); err != nil {
		return control.Goal{}, err
	}
	if err := l.eases.Resume(st, 0); err != nil {
		l.leave()
		return control.Goal{}, err
	}
	return l.stream.Controls()[0], nil
}

func (l *learned) shift(by m3.Vec3) {
	l.stream.Shift(0, by)
	l.eases.Shift(0, by)
}

func (l *learned) save(st *generator.State, g *control.Goal) {
	l.stream.Controls()[0] = *g
	l.stream.Save(st, 0)
	l.eases.Leave(st, 0)
}

func (l *learned) processor(n, workers int) (moving, error) {
	s, err := newStreamed(l.of, n, workers)
	if err != nil {
		return nil, err
	}
	s.goals = l.goals
	return s, nil
}

// streamed moves agents of learned motion matching on the processor: each has a row of a stream, and a state of inertialization.
type streamed struct {
	stream *matching.LearnedStream
	goals  *matching.Shader
	eases  *blend.Inertial
	poses  generator.Poses
	frozen []bool
	joints int
}

// newStreamed returns n agents, which all stand.
func newStreamed(l *matching.Learned, n, workers int) (*streamed, error) {
	if l == nil {
		return nil, errors.New("a character is missing")
	}
	stream, err := l.NewStream(matching.StreamOptions{Capacity: n, Workers: workers})
	if err != nil {
		return nil, err
	}
	joints := l.Skel.Len()
	s := &streamed{stream: stream, eases: blend.NewInertial(n, l.Skel.Parents), frozen: make([]bool, n), joints: joints}
	s.poses = generator.Poses{Update: make([]bool, n), Roots: make([]m3.Xform, n), Pos: make([]m3.Vec3, n*joints), Rot: make([]m3.Quat, n*joints), Restarted: make([]bool, n)}
	for i := range n {
		copy(s.poses.Pos[i*joints:], l.Skel.Offsets)
		if _, err := stream.Add(feature.Place{}, nil); err != nil {
			return nil, errors.Join(err, stream.Close())
		}
	}
	return s, nil
}

func (s *streamed) end() error { return s.stream.Close() }

// ownLen returns the float32s of a row that are the stream's.
func (s *streamed) ownLen() int { return s.goals.RowLen }

func (s *streamed) pack(row []float32, agent int) {
	s.stream.Pack(row, agent)
	s.eases.Pack(row[s.ownLen():], agent)
}

func (s *streamed) unpack(agent int, row []float32) error {
	if len(row) < s.ownLen() {
		return errors.New("resident: half a row")
	}
	return errors.Join(s.stream.Unpack(agent, row), s.eases.Unpack(agent, row[s.ownLen():]))
}

func (s *streamed) root(agent int) Root {
	pos, _ := s.pose(agent)
	return Root{At: s.at(agent), Velocity: s.stream.Velocity(agent), Hips: pos[0].Y}
}

func (s *streamed) at(agent int) m3.Xform {
	at := s.stream.Root(agent)
	return m3.Xform{Pos: at.Pos, Rot: m3.YawQuat(at.Yaw)}
}

// pose returns the pose that an agent showed last, or begins with.
func (s *streamed) pose(agent int) ([]m3.Vec3, []m3.Quat) {
	pos, rot := s.poses.Joints(agent, s.joints)
	if !s.eases.Shown(agent, s.at(agent), pos, rot) {
		s.stream.Pose(&s.poses, agent)
	}
	return pos, rot
}

func (s *streamed) step(words []float32, there func(agent int)) error {
	for row := range s.frozen {
		w := words[row*matching.GoalLen:][:matching.GoalLen]
		s.frozen[row] = w[alive] == 0
		if s.poses.Update[row] = !s.frozen[row]; s.poses.Update[row] {
			s.stream.Controls()[row] = s.goals.Goal(w)
		}
	}
	if err := s.stream.Generate(s.frozen); err != nil {
		return err
	}
	s.stream.Sample(&s.poses, 0, len(s.frozen))
	for row := range s.frozen {
		if s.frozen[row] {
			continue
		}
		if s.poses.Restarted[row] {
			s.poses.Restarted[row] = false
			s.eases.Jump(row)
		}
		s.eases.Run(s.poses.Pos, s.poses.Rot, s.poses.Roots, row, row+1)
		there(row)
	}
	return nil
}
