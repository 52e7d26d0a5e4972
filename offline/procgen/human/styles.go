package human

// style is the change that a style makes to a gait: factors (0 stands for 1), and sums in metres
// and radians. gait explains the fields.
//
// Directions and sizes follow publications about emotion, age and character in gait. Anger is fast,
// with long strides, wide swings and a forward trunk. Sadness is slow, with short strides, hardly
// any arm swing, the head bowed and the upper body collapsed. Pride is upright, with the chest out.
// Old age has short flat steps, a stoop, bent knees, a wide track and longer double support.
type style struct {
	name string

	cadence, stride float64 // factors
	duty            float64 // sum

	width, toeOut, lift float64 // sums
	strike, rise        float64 // factors

	bounce, sway, yaw, list       float64 // factors
	bend, bounceAt, tilt, kneeOut float64 // sums

	lean, curve               float64 // sums
	chestYaw, chestRoll, nod  float64 // factors
	neck, head                float64 // sums
	headNod                   float64 // factor
	headRoll, headTilt        float64 // sums
	shrug, round              float64 // sums
	swing, elbowSwing         float64 // factors
	armMean, armOut, armOutUp float64 // sums
	armIn, elbow, wrist, curl float64 // sums; in a run elbow counts a quarter

	limp  float64 // as in gait
	noise float64 // factor
	sag   float64 // sum
}

// styleRows are the styles, neutral first, which changes nothing.
var styleRows = []style{
	{name: "neutral"},
	{name: "proud",
		cadence: 0.95, stride: 1.07, toeOut: rad(3), strike: 1.1,
		bounce: 1.15, sway: 0.9, chestYaw: 1.2, chestRoll: 1.1,
		lean: rad(-6), curve: rad(-7), tilt: rad(3), neck: rad(-4), head: rad(-9), headNod: 0.7, shrug: rad(1), round: rad(-11),
		swing: 1.25, armMean: rad(-3), armOut: rad(7), armIn: rad(-2), elbow: rad(5), wrist: rad(-3)},
	{name: "angry",
		cadence: 1.17, stride: 1.13, width: 0.01, strike: 1.15, rise: 1.06,
		bounce: 1.15, yaw: 1.3, list: 0.8, bend: 0.012,
		lean: rad(10), curve: rad(3), chestYaw: 1.6, chestRoll: 1.5, nod: 1.6, neck: rad(6), head: rad(7), headNod: 1.6, shrug: rad(5), round: rad(6),
		swing: 1.75, armMean: rad(-1), armOut: rad(9), armIn: rad(7), elbow: rad(28), elbowSwing: 1.6, wrist: rad(4), curl: rad(55), noise: 1.2},
	{name: "depressed",
		cadence: 0.80, stride: 0.72, duty: 0.025, strike: 0.45, rise: 0.8, lift: -0.004,
		bounce: 0.55, sway: 1.35, yaw: 0.7, list: 0.8, bend: 0.012, tilt: rad(-5),
		lean: rad(7), curve: rad(16), chestYaw: 0.5, chestRoll: 1.6, nod: 0.8, neck: rad(14), head: rad(32), headNod: 1.6, shrug: rad(-4), round: rad(13),
		swing: 0.32, armMean: rad(5), armOut: rad(0.5), elbow: rad(-7), elbowSwing: 0.4, wrist: rad(3), noise: 0.8},
	{name: "strutting",
		cadence: 0.92, stride: 1.06, width: 0.012, toeOut: rad(7), strike: 1.15, rise: 1.08, lift: 0.02,
		bounce: 1.75, bounceAt: 0.03, sway: 1.9, yaw: 1.3, list: 1.3, kneeOut: rad(5),
		lean: rad(-7), curve: rad(-3), tilt: rad(2), chestYaw: 1.7, chestRoll: 3.6, nod: 1.8, neck: rad(-2), head: rad(-5), headNod: 3, headRoll: rad(2), shrug: rad(2), round: rad(-6),
		swing: 1.45, armMean: rad(-4), armOut: rad(16), armOutUp: rad(5), armIn: rad(14), elbow: rad(16), elbowSwing: 1.5, curl: rad(20), noise: 1.1, sag: rad(2)},
	{name: "childlike",
		cadence: 1.26, stride: 0.80, width: 0.008, strike: 0.9, rise: 1.1, lift: 0.085,
		bounce: 1.6, bounceAt: 0.05, sway: 1.1, yaw: 1.5, list: 1.1,
		lean: rad(-2), curve: rad(-3), chestYaw: 1.5, chestRoll: 2.6, nod: 2, neck: rad(-2), head: rad(-7), headNod: 3, headRoll: rad(5), shrug: rad(4), round: rad(-3),
		swing: 1.55, armMean: rad(4), armOut: rad(26), armOutUp: rad(7), armIn: rad(-10), elbow: rad(30), elbowSwing: 2.2, wrist: rad(-12), curl: rad(-10), noise: 1.7},
	{name: "old",
		cadence: 0.84, stride: 0.58, duty: 0.05, width: 0.024, toeOut: rad(8), strike: 0.35, rise: 0.62, lift: -0.005,
		bounce: 0.5, sway: 1.5, yaw: 0.6, list: 0.7, bend: 0.042, tilt: rad(-4), kneeOut: rad(7),
		lean: rad(18), curve: rad(24), chestYaw: 0.5, chestRoll: 2, nod: 1.2, neck: rad(10), head: rad(5), headNod: 1.5, shrug: rad(2), round: rad(10),
		swing: 0.6, armMean: rad(-4), armOut: rad(5), armIn: rad(4), elbow: rad(24), elbowSwing: 0.6, wrist: rad(6), curl: rad(15), limp: 0.45, noise: 1.5},
	{name: "sexy",
		cadence: 0.95, stride: 0.99, width: -0.047, toeOut: rad(-3), strike: 0.9, rise: 1.1,
		bounce: 1.05, sway: 2.1, yaw: 1.7, list: 2.5, tilt: rad(5), kneeOut: rad(-4),
		lean: rad(-5), curve: rad(-4), chestYaw: 1.3, chestRoll: 1.8, neck: rad(-4), head: rad(-3), headRoll: rad(1.5), headTilt: rad(3), shrug: rad(-2), round: rad(-9),
		swing: 1.1, armMean: rad(-4), armOut: rad(2), armIn: rad(-5), elbow: rad(3), wrist: rad(-15), curl: rad(-8), sag: rad(5)},
	{name: "sneaking",
		cadence: 0.80, stride: 0.84, duty: 0.02, width: 0.012, strike: 0.3, rise: 1.05, lift: 0.06,
		bounce: 0.5, yaw: 0.8, list: 0.6, bend: 0.085, tilt: rad(6), kneeOut: rad(4),
		lean: rad(19), curve: rad(13), chestYaw: 0.7, chestRoll: 0.8, nod: 0.6, neck: rad(-8), head: rad(-3), headNod: 0.4, shrug: rad(5), round: rad(8),
		swing: 0.4, armMean: rad(14), armOut: rad(12), armIn: rad(6), elbow: rad(58), elbowSwing: 0.6, wrist: rad(-14), curl: rad(5), noise: 0.7},
	{name: "marching",
		cadence: 1.08, width: -0.008, toeOut: rad(-2), strike: 1.1, lift: 0.12,
		bounce: 1.1, sway: 0.6, yaw: 0.6, list: 0.6,
		lean: rad(-4), curve: rad(-7), tilt: rad(2), chestYaw: 0.4, chestRoll: 0.4, nod: 0.5, neck: rad(-4), head: rad(-4), headNod: 0.2, headRoll: rad(-0.6), round: rad(-9),
		swing: 2.0, armMean: rad(4), armOut: rad(-3), armIn: rad(-9), elbow: rad(-15), elbowSwing: 0.2, wrist: rad(-6), curl: rad(45), noise: 0.5},
	{name: "drunk",
		cadence: 0.84, stride: 0.80, duty: 0.03, width: 0.05, toeOut: rad(11), strike: 0.6, rise: 0.85,
		bounce: 1.2, sway: 2.6, yaw: 1.6, list: 1.3, bend: 0.02, kneeOut: rad(5),
		lean: rad(3), curve: rad(10), chestYaw: 1.2, chestRoll: 4.5, nod: 2.5, neck: rad(7), head: rad(15), headNod: 3, headRoll: rad(8), shrug: rad(-3), round: rad(6),
		swing: 0.9, armMean: rad(4), armOut: rad(17), armOutUp: rad(5), armIn: rad(-4), elbow: rad(-2), elbowSwing: 0.8, wrist: rad(8), noise: 3},
	{name: "limping",
		cadence: 0.86, stride: 0.74, duty: 0.02, width: 0.015, strike: 0.7, rise: 0.85,
		bounce: 1.1, sway: 1.4, list: 1.4, bend: 0.016,
		lean: rad(9), curve: rad(5), chestRoll: 2.2, nod: 1.6, neck: rad(4), head: rad(11), headNod: 2, shrug: rad(3),
		swing: 0.65, armOut: rad(6), elbow: rad(18), elbowSwing: 0.8, curl: rad(20), limp: 1, noise: 1.3},
	{name: "cold",
		cadence: 1.14, stride: 0.76, width: -0.012, strike: 0.7, rise: 0.9,
		bounce: 0.8, sway: 0.8, yaw: 0.7, list: 0.7,
		lean: rad(5), curve: rad(15), tilt: rad(-3), chestYaw: 0.5, chestRoll: 0.8, neck: rad(9), head: rad(12), headNod: 0.8, shrug: rad(15), round: rad(19),
		swing: 0.2, armMean: rad(12), armOut: rad(3), armIn: rad(34), elbow: rad(82), elbowSwing: 0.2, wrist: rad(6), curl: rad(50)},
	{name: "stooped",
		cadence: 0.95, stride: 0.93, width: 0.008, strike: 0.8, rise: 0.95,
		bounce: 0.8, yaw: 0.8, list: 0.8, bend: 0.03, tilt: rad(9),
		lean: rad(30), curve: rad(20), chestYaw: 0.7, nod: 1.2, neck: rad(-6), head: rad(4), shrug: rad(2), round: rad(9),
		swing: 0.6, armMean: rad(12), armOut: rad(3), elbow: rad(4), wrist: rad(4), noise: 0.9},
	{name: "striding",
		cadence: 0.94, stride: 1.2, strike: 1.2, rise: 1.12,
		bounce: 1.4, yaw: 1.4, list: 1.1, tilt: rad(1),
		lean: rad(2), curve: rad(-3), chestYaw: 1.2, nod: 1.2, head: rad(-4), round: rad(-4),
		swing: 1.75, armMean: rad(3), armOut: rad(2), armIn: rad(-6), elbow: rad(-3), elbowSwing: 1.2, curl: rad(15)},
	{name: "hurried",
		cadence: 1.15, stride: 1.06, width: -0.006, rise: 1.05,
		bounce: 1.15, yaw: 1.4, list: 0.9,
		lean: rad(12), curve: rad(3), chestYaw: 1.4, nod: 1.3, neck: rad(5), head: rad(-3), headNod: 1.2, shrug: rad(3),
		swing: 1.5, armMean: rad(2), armOut: rad(4), armIn: rad(5), elbow: rad(52), elbowSwing: 1.4, curl: rad(30)},
	{name: "relaxed",
		cadence: 0.88, stride: 0.98, toeOut: rad(4), strike: 0.9, rise: 0.95,
		bounce: 1.1, sway: 1.5, yaw: 1.2, list: 1.5, tilt: rad(-2),
		lean: rad(-7), curve: rad(5), chestYaw: 1.1, chestRoll: 2, nod: 1.2, neck: rad(-2), head: rad(-3), headNod: 1.6, headRoll: rad(1.5), headTilt: rad(3), shrug: rad(-4), round: rad(3),
		swing: 0.9, armMean: rad(-2), armOut: rad(3), armIn: rad(-6), elbow: rad(-8), elbowSwing: 0.7, wrist: rad(4), noise: 1.3, sag: rad(4)},
}

// xia is the number of the first styles, which Xia et al. 2015 recorded, too.
const xia = 8

// Styles returns the names of all styles, neutral first.
func Styles() []string {
	names := make([]string, len(styleRows))
	for i := range styleRows {
		names[i] = styleRows[i].name
	}
	return names
}

// XiaStyles returns the names of the styles that Xia et al. 2015 recorded, too, neutral first.
func XiaStyles() []string { return Styles()[:xia] }
