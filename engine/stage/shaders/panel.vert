layout(location = 0) in vec3 Position; // −1…1
uniform vec4 Rect; // left, bottom, right, top in clip space
out vec2 vCoord;

void main() {
	vec2 t = Position.xy * 0.5 + 0.5;
	vCoord = vec2(t.x, 1.0 - t.y);
	gl_Position = vec4(mix(Rect.xy, Rect.zw, t), 0.0, 1.0);
}
