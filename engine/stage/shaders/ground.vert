#include <light>
layout(location = 0) in vec3 Position;
layout(location = 1) in vec3 Normal;
layout(location = 2) in float Edge; // of a step: 1; its foot: −1
uniform mat4 MVP;
out vec3 vPos;
out vec3 vNormal;
out float vEdge;
out vec4 vAir;
out float vMeadow; // how lush the meadow is here, 0…1

void main() {
	vPos = Position;
	vNormal = Normal;
	vEdge = Edge;
	vAir = air(Position); // changes slowly
	vMeadow = textureLod(Grain, Position.zx * 0.0131, 2.0).y;
	gl_Position = MVP * vec4(Position, 1.0);
}
