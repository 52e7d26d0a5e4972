layout(location = 0) in vec3 Position;
uniform mat4 Unproject; // clip space → world direction
out vec3 vDir;

void main() {
	vec4 p = Unproject * vec4(Position.xy, 1.0, 1.0);
	vDir = p.xyz / p.w;
	gl_Position = vec4(Position.xy, 1.0, 1.0);
}
