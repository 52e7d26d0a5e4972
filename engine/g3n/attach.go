package g3n

import (
	"github.com/g3n/engine/core"
	"github.com/g3n/engine/math32"

	"mannequin/engine/m3"
)

// Attachment is a node that an agent's joint carries: a sword in a hand, a rider on a dog. Its
// fields may be changed at any time; Update applies them.
type Attachment struct {
	Agent  int      // whose; of a node of a whole animsys.Crowd, the Row of an entity. One that is not there hides the node: −1
	Joint  int      // by index in the skeleton; one that is not there hides the node
	Offset m3.Xform // from the joint to the node; a zero rotation is none

	holder *core.Node
}

// Attach adds a node that an agent's joint carries. The node keeps its own transform below the joint.
func (c *Crowd) Attach(node core.INode, agent, joint int, offset m3.Xform) *Attachment {
	a := &Attachment{Agent: agent, Joint: joint, Offset: offset, holder: core.NewNode()}
	a.holder.Add(node)
	c.Node.Add(a.holder)
	c.attached = append(c.attached, a)
	c.attach()
	return a
}

// Detach removes an attachment, and leaves its node without a parent.
func (c *Crowd) Detach(a *Attachment) {
	for i, b := range c.attached {
		if a == b {
			c.attached = append(c.attached[:i], c.attached[i+1:]...)
			a.holder.RemoveAll(false)
			c.Node.Remove(a.holder)
			return
		}
	}
}

// attach moves attached nodes to their joints, and hides those of agents who are not drawn.
func (c *Crowd) attach() {
	for _, a := range c.attached {
		joints := c.all.Joints()
		shown := a.Agent >= 0 && a.Agent < c.Agents() && !c.all.OnGPU() && !c.hidden[a.Agent] && a.Joint >= 0 && a.Joint < joints
		if shown {
			offset := a.Offset
			if offset.Rot == (m3.Quat{}) {
				offset.Rot = m3.Ident
			}
			x := c.bones[a.Agent*joints+a.Joint].Mul(offset)
			if shown = x.Pos.Finite(); shown {
				a.holder.SetPosition(x.Pos.X, x.Pos.Y, x.Pos.Z)
				a.holder.SetRotationQuat(&math32.Quaternion{X: x.Rot.X, Y: x.Rot.Y, Z: x.Rot.Z, W: x.Rot.W})
			}
		}
		a.holder.SetVisible(shown)
	}
}
