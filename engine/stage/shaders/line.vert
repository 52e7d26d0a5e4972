layout(location = 0) in vec3 Position;
layout(location = 1) in vec2 Coord;
uniform mat4 MVP;
out vec3 vPos;
out vec2 vCoord;

void main() {
	vPos = Position;
	vCoord = Coord;
	gl_Position = MVP * vec4(Position, 1.0);
}
