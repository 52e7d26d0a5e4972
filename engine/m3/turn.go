package m3

// Turn is a rotation about the vertical through a place.
type Turn struct {
	About Vec3
	Yaw   float32 // rad
	Rot   Quat    // by Yaw
}

// TurnAbout returns the rotation by yaw, rad, about the vertical through about.
func TurnAbout(about Vec3, yaw float32) Turn { return Turn{about, yaw, YawQuat(yaw)} }

// Point returns where p comes to. Heights stay.
func (t Turn) Point(p Vec3) Vec3 {
	v := t.Rot.Rotate(Vec3{p.X - t.About.X, 0, p.Z - t.About.Z})
	return Vec3{t.About.X + v.X, p.Y, t.About.Z + v.Z}
}

// Xform returns where x comes to.
func (t Turn) Xform(x Xform) Xform { return Xform{Pos: t.Point(x.Pos), Rot: t.Rot.Mul(x.Rot)} }
