#include <light>
layout(location = 0) in vec3 Position;
layout(location = 1) in vec3 Normal;
layout(location = 2) in vec3 Colour;
uniform mat4 MVP;
out vec3 vPos;
out vec3 vNormal;
out vec3 vColour;

void main() {
	vPos = Position;
	vNormal = Normal;
	vColour = Colour;
	gl_Position = MVP * vec4(Position, 1.0);
}
