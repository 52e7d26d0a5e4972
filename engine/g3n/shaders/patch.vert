layout(location = 0) in vec3 Position;
layout(location = 1) in vec3 Spot; // place in the patch, −1…1 twice; darkness in its middle
uniform mat4 ModelViewMatrix;
uniform mat4 Project;
out vec3 vPos;
out vec3 vSpot;

void main() {
	vec4 at = ModelViewMatrix * vec4(Position, 1.0);
	vPos = at.xyz;
	vSpot = Spot;
	gl_Position = Project * at;
	// The ground's mesh may be coarser than the patch: it must not hide it.
	vec4 nearer = Project * vec4(at.xyz * 0.98, 1.0);
	gl_Position.z = nearer.z / nearer.w * gl_Position.w;
}
