// Package control holds what characters are asked to do. A generator turns it into motion.
//
//   - What a character should do now, from a player or an AI: [Goal], [Steer]
//   - Paths on the ground to follow: [NewPath], [ReadPath], [Builtin]
//   - Goals by time, read from a file: [ReadScript], [Script]
//   - Goals for extras that wander about their homes: [NewWander], [Wander.Update]
//   - The shortest way around obstacles to one place, for any number of characters: [NewFlow],
//     [Flow.Way]
//   - Directions and speeds at which agents do not walk into each other: [Avoidance], [Walker]
//
// Directions in a goal are in the character's own frame (+X left, +Z forward, metres, seconds).
// Paths and flows are in world space, on the ground; Goal.PathOrigin moves a path elsewhere.
package control

import (
	"fmt"
	"math"
	"strings"

	"mannequin/engine/m3"
	"mannequin/internal/closest"
)

// Action is an action of a character. The zero value is Idle.
type Action uint8

// The quadruped's six actions (Zhang, Starke et al. 2018, sec. 5). A dog that only waits on its four
// legs is Idle.
const (
	Idle Action = iota
	Move
	Jump
	Sit
	Lie
	Stand // rear: rise on the hind legs
	NumActions
)

// Own is the first action that a character has of its own: Own+i is tag i of the database that plays it, at most 64 of them.
// matching.Database.Action returns the action of a name. Characters ignore actions that they have not.
const Own Action = 64

// owns is the number of actions of a character's own.
const owns = 64

var actionNames = [NumActions]string{"idle", "move", "jump", "sit", "lie", "stand"}

// String returns the action's name in lower case, as in layouts.
func (a Action) String() string {
	if a < NumActions {
		return actionNames[a]
	}
	if a >= Own && a < Own+owns {
		return fmt.Sprintf("own(%d)", a-Own)
	}
	return fmt.Sprintf("action(%d)", uint8(a))
}

// Tag returns the number of the tag that an action of a character's own is, or −1.
func (a Action) Tag() int {
	if a >= Own && a < Own+owns {
		return int(a - Own)
	}
	return -1
}

// ParseAction returns the action called name, in any case. It knows none of a character's own.
func ParseAction(name string) (Action, error) {
	for a, n := range actionNames {
		if strings.EqualFold(n, name) {
			return Action(a), nil
		}
	}
	return 0, fmt.Errorf("control: no action %q: want one of %s%s", name, strings.Join(actionNames[:], ", "), closest.Hint(name, actionNames[:]))
}

// Speeds that produce the gaits, m/s: 1.1 m/s times 0.7, 1, 1.8 and 3.2.
const (
	WalkSpeed   float32 = 0.77
	PaceSpeed   float32 = 1.1
	TrotSpeed   float32 = 1.98
	CanterSpeed float32 = 3.52
)

// MaxTurn is the turn rate for a goal with Turn 1, rad/s: 60° per second.
const MaxTurn float32 = 60 * math.Pi / 180

// Goal is what one character should do now. The zero Goal is to stand still.
type Goal struct {
	// Move is the direction to go in the character's frame, +X left and +Z forward; Y is ignored.
	// Its length, at most 1, scales Speed.
	Move m3.Vec3
	// Turn is the turn rate as a share of MaxTurn (not in rad/s, as strnn.Steer.Turn is), −1 (right) to
	// 1 (left), with or without Move.
	Turn float32
	// Face is the direction to face, in the character's frame; Y is ignored. Zero leaves it to Turn.
	// With Move it makes a character go sideways or backward while it looks at something.
	Face m3.Vec3
	// Speed while moving, m/s.
	Speed float32
	// Action to take. Idle becomes Move if Move, Turn or Path ask for motion. Sit, Lie and Stand
	// first stop the character. Actions from Own on are the character's own, with Move and Speed as they are.
	Action Action
	// Path is followed at Speed from its nearest point; Move, Turn and Face are then ignored. Optional.
	Path *Path
	// PathOrigin is where the origin of Path lies in the world, m; Y is ignored. Far from the world's
	// origin, make paths around their own and place them with it: float32 has 2 mm steps at 20 km.
	PathOrigin m3.Vec3
	// PathScale makes Path larger or smaller, about its own origin; 0 is 1.
	PathScale float32
}

// Finite reports whether g holds no NaN or infinity.
func (g *Goal) Finite() bool {
	return g.Move.Finite() && g.Face.Finite() && m3.Finite(g.Turn) && m3.Finite(g.Speed) && g.PathOrigin.Finite() && m3.Finite(g.PathScale)
}

// Shift moves where the path lies by by, m.
func (g *Goal) Shift(by m3.Vec3) { g.PathOrigin = g.PathOrigin.Add(by) }

// Scale multiplies the goal's lengths by by, for a space with another unit.
func (g *Goal) Scale(by float32) {
	g.Speed *= by
	g.PathOrigin = g.PathOrigin.Scale(by)
	g.PathScale = g.Route().scale() * by
}

// Route returns the goal's path with its scale.
func (g *Goal) Route() Route { return Route{g.Path, g.PathScale} }

// Turning returns the turn rate that the goal asks for, as a share of MaxTurn, −1 to 1.
func (g *Goal) Turning() float32 {
	if face := g.Face.Flat(); face != (m3.Vec3{}) {
		return Steer(0, m3.YawOf(face))
	}
	return m3.Clamp(g.Turn, -1, 1)
}

// Steer returns the Turn that brings a character from heading yaw to the heading want, both in
// radians as m3.YawOf measures them: within a second if MaxTurn allows.
func Steer(yaw, want float32) float32 { return m3.Clamp(m3.WrapAngle(want-yaw)/MaxTurn, -1, 1) }
