layout(location = 0) in vec3 Position;
layout(location = 1) in vec3 Normal;
uniform mat4 MVP;
out vec3 vPos;
out vec3 vNormal;

void main() {
	vPos = Position;
	vNormal = Normal;
	gl_Position = MVP * vec4(Position, 1.0);
}
