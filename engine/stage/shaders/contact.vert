layout(location = 0) in vec3 Position;
layout(location = 1) in vec3 Spot; // place in the patch, −1…1 twice; darkness in its middle
uniform mat4 MVP;
uniform vec3 Eye;
out vec3 vPos;
out vec3 vSpot;

void main() {
	vPos = Position;
	vSpot = Spot;
	gl_Position = MVP * vec4(Position, 1.0);
	// The ground's mesh is coarser than the patch, the more the farther away: it
	// must not hide it.
	vec4 nearer = MVP * vec4(mix(Position, Eye, 0.04), 1.0);
	gl_Position.z = nearer.z / nearer.w * gl_Position.w;
}
