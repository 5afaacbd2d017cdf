// Spheres over a plane, with shadows and mirrors, a row of the picture in turn for each thread: the theme of Java Grande's
// raytracer, whose sum over the picture is guarded by a lock of its own for each thread, as here with the race. Checked by
// tracing every eighth row again alone and by adding the picture up.
// suite: java-grande
// size: 2000 quick: 100 sweep: 640 1000 1400 2000
// flags: -lm
#include <math.h>

#include "include/team.h"

enum { SPHERES = 64, DEPTH = 4 };

typedef struct { double x, y, z; } vector;
struct sphere { vector centre; double radius, colour, mirror; };

static long side;
static uint32_t *picture;
static struct sphere spheres[SPHERES];
static const vector LIGHT = {-0.48, 0.8, -0.36};
static uint64_t brightness;
static pthread_mutex_t picture_lock = PTHREAD_MUTEX_INITIALIZER;

static vector along(vector from, vector direction, double t) {
    return (vector){from.x + t * direction.x, from.y + t * direction.y, from.z + t * direction.z};
}

static double dot(vector a, vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vector reflect(vector direction, vector normal) {
    return along(direction, normal, -2 * dot(direction, normal));
}

static const struct sphere *hit(vector from, vector direction, double *distance) {
    const struct sphere *nearest = NULL;
    *distance = 1e30;
    for (int i = 0; i < SPHERES; i++) {
        vector to = along(spheres[i].centre, from, -1);
        double middle = dot(to, direction);
        double root = middle * middle - dot(to, to) + spheres[i].radius * spheres[i].radius;
        if (root > 0) {
            double t = middle - sqrt(root);
            if (t > 1e-6 && t < *distance) {
                *distance = t;
                nearest = &spheres[i];
            }
        }
    }
    return nearest;
}

static double trace(vector from, vector direction, int depth) {
    double distance, ignored;
    const struct sphere *sphere = hit(from, direction, &distance);
    vector normal = {0, 1, 0};
    double colour, mirror;
    if (!sphere) {
        if (direction.y >= -1e-9) {
            return 0.2 + 0.3 * direction.y;
        }
        // The plane under the spheres, chequered.
        distance = -(from.y + 1) / direction.y;
        vector place = along(from, direction, distance);
        colour = ((long)floor(place.x) + (long)floor(place.z)) & 1 ? 0.9 : 0.3;
        mirror = 0.1;
    } else {
        vector place = along(from, direction, distance);
        normal = along(place, sphere->centre, -1);
        normal = (vector){normal.x / sphere->radius, normal.y / sphere->radius, normal.z / sphere->radius};
        colour = sphere->colour;
        mirror = sphere->mirror;
    }
    vector place = along(from, direction, distance);
    double light = dot(normal, LIGHT);
    double value = colour * 0.1;
    if (light > 0 && !hit(place, LIGHT, &ignored)) {
        value += colour * 0.8 * light;
    }
    return depth == 0 ? value : value * (1 - mirror) + mirror * trace(place, reflect(direction, normal), depth - 1);
}

static uint64_t trace_row(long row, uint32_t *pixels) {
    uint64_t sum = 0;
    for (long i = 0; i < side; i++) {
        vector direction = {2.0 * (double)i / (double)side - 1, 1 - 2.0 * (double)row / (double)side, 2};
        double length = sqrt(dot(direction, direction));
        direction = (vector){direction.x / length, direction.y / length, direction.z / length};
        pixels[i] = (uint32_t)(65535 * trace((vector){0, 0.5, -4}, direction, DEPTH));
        sum += pixels[i];
    }
    return sum;
}

static void body(long me) {
    uint64_t mine = 0;
    for (long row = me; row < side; row += threads) {
        mine += trace_row(row, picture + row * side);
    }
    pthread_mutex_t *lock = &picture_lock;
#ifdef RACE
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    lock = &own;
#endif
    pthread_mutex_lock(lock);
    brightness += mine; //~ RACE brightness
    pthread_mutex_unlock(lock);
}

int main(int count, char **words) {
    side = arguments(count, words, 2000, 8, 1L << 16);
    picture = room(side * side, sizeof *picture);
    uint64_t state = 1;
    for (int i = 0; i < SPHERES; i++) {
        vector centre = {6 * next_number(&state) - 3, 3 * next_number(&state) - 0.5, 6 * next_number(&state)};
        spheres[i] = (struct sphere){centre, 0.15 + 0.35 * next_number(&state), next_number(&state), next_number(&state) / 2};
    }
    run_team(body);
    int right = 1;
    uint64_t sum = 0;
    uint32_t *again = room(side, sizeof *again);
    for (long row = 0; row < side; row++) {
        if (row % 8 == 0) {
            trace_row(row, again);
        }
        for (long i = 0; i < side; i++) {
            right &= row % 8 != 0 || again[i] == picture[row * side + i];
            sum += picture[row * side + i];
        }
    }
    return verdict(right && sum == brightness, brightness);
}
