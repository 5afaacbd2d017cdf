// Bodies that attract each other, by an octree of cells, built each step under locks and read by all: the theme of SPLASH's
// barnes. Checked by the mass in the tree, by the momentum, which stays nearly, and by the forces on some bodies, summed
// over all others.
// suite: splash
// size: 60000 quick: 500 sweep: 8000 16000 30000 60000
// flags: -lm
#include <math.h>
#include <string.h>

#include "include/team.h"

enum { STEPS = 4 };

struct vector { double x, y, z; };
struct body { struct vector place, speed, force; double mass; };
struct cell {
    pthread_mutex_t lock;
    struct vector middle;
    double half;
    struct cell *parts[8];
    struct body *body;
    struct vector centre;
    double mass;
};

static long count;
static struct body *bodies;
static struct cell *root;
static uint64_t interactions;
static pthread_mutex_t interactions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cell **pools;
static long *used;
static long cells;

static struct cell *new_cell(long me, struct vector middle, double half) {
    if (used[me] == cells) {
        fprintf(stderr, "too few cells: choose another size\n");
        exit(2);
    }
    struct cell *cell = &pools[me][used[me]++];
    pthread_mutex_init(&cell->lock, NULL);
    cell->middle = middle;
    cell->half = half;
    memset(cell->parts, 0, sizeof cell->parts);
    cell->body = NULL;
    return cell;
}

static int part_of(const struct cell *cell, const struct body *body) {
    return (body->place.x > cell->middle.x) | (body->place.y > cell->middle.y) << 1
           | (body->place.z > cell->middle.z) << 2;
}

static struct cell *new_part(long me, const struct cell *cell, int part) {
    double half = cell->half / 2;
    struct vector middle = {
        cell->middle.x + (part & 1 ? half : -half),
        cell->middle.y + (part & 2 ? half : -half),
        cell->middle.z + (part & 4 ? half : -half),
    };
    return new_cell(me, middle, half);
}

// A leaf holds one body; a second one makes it an inner cell. Locks are taken from the root down, one at a time.
static void insert(long me, struct body *body) {
    struct cell *cell = root;
    pthread_mutex_lock(&cell->lock);
    for (;;) {
        int part = part_of(cell, body);
        struct cell *next = cell->parts[part];
        if (!next) {
            next = cell->parts[part] = new_part(me, cell, part);
            next->body = body;
            pthread_mutex_unlock(&cell->lock);
            return;
        }
        pthread_mutex_lock(&next->lock);
        pthread_mutex_unlock(&cell->lock);
        if (next->body) {
            struct body *other = next->body;
            next->body = NULL;
            int place = part_of(next, other);
            next->parts[place] = new_part(me, next, place);
            next->parts[place]->body = other;
        }
        cell = next;
    }
}

static void sum_up(struct cell *cell) {
    if (cell->body) {
        cell->mass = cell->body->mass;
        cell->centre = cell->body->place;
        return;
    }
    cell->mass = 0;
    cell->centre = (struct vector){0, 0, 0};
    for (int i = 0; i < 8; i++) {
        struct cell *part = cell->parts[i];
        if (part) {
            sum_up(part);
            cell->mass += part->mass;
            cell->centre.x += part->mass * part->centre.x;
            cell->centre.y += part->mass * part->centre.y;
            cell->centre.z += part->mass * part->centre.z;
        }
    }
    if (cell->mass > 0) {
        cell->centre.x /= cell->mass;
        cell->centre.y /= cell->mass;
        cell->centre.z /= cell->mass;
    }
}

// Returns how many bodies and cells were taken into account.
static uint64_t attract(struct body *body, const struct cell *cell) {
    if (cell->body == body) {
        return 0;
    }
    double x = cell->centre.x - body->place.x, y = cell->centre.y - body->place.y, z = cell->centre.z - body->place.z;
    double square = x * x + y * y + z * z + 1e-4;
    if (cell->body || 4 * cell->half * cell->half < 0.25 * square) {
        double force = body->mass * cell->mass / (square * sqrt(square));
        body->force.x += force * x;
        body->force.y += force * y;
        body->force.z += force * z;
        return 1;
    }
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++) {
        if (cell->parts[i]) {
            sum += attract(body, cell->parts[i]);
        }
    }
    return sum;
}

static void body_of_thread(long me) {
    long first = first_of(count, me), last = first_of(count, me + 1);
    const double time = 1e-3;
    for (int step = 0; step < STEPS; step++) {
        used[me] = 0;
        if (me == 0) {
            root = new_cell(me, (struct vector){0, 0, 0}, 2);
        }
        meet();
        for (long i = first; i < last; i++) {
            insert(me, &bodies[i]);
        }
        meet();
        if (me == 0) {
            sum_up(root);
        }
        meet();
        uint64_t mine = 0;
        for (long i = first; i < last; i++) {
            bodies[i].force = (struct vector){0, 0, 0};
            mine += attract(&bodies[i], root);
        }
        guard(&interactions_lock);
        interactions += mine; //~ RACE interactions
        unguard(&interactions_lock);
        meet();
        for (long i = first; i < last; i++) {
            struct body *body = &bodies[i];
            body->speed.x += time * body->force.x / body->mass;
            body->speed.y += time * body->force.y / body->mass;
            body->speed.z += time * body->force.z / body->mass;
            body->place.x += time * body->speed.x;
            body->place.y += time * body->speed.y;
            body->place.z += time * body->speed.z;
        }
        meet();
    }
}

// Along x, from each of the others.
static double direct_force(long which) {
    const struct body *body = &bodies[which];
    double force = 0;
    for (long i = 0; i < count; i++) {
        if (i != which) {
            double x = bodies[i].place.x - body->place.x;
            double y = bodies[i].place.y - body->place.y;
            double z = bodies[i].place.z - body->place.z;
            double square = x * x + y * y + z * z + 1e-4;
            force += body->mass * bodies[i].mass * x / (square * sqrt(square));
        }
    }
    return force;
}

int main(int words_count, char **words) {
    count = arguments(words_count, words, 60000, 16, 1L << 24);
    cells = 8 * count + 64;
    bodies = room(count, sizeof *bodies);
    pools = room(threads, sizeof *pools);
    used = room(threads, sizeof *used);
    for (int i = 0; i < threads; i++) {
        pools[i] = room(cells, sizeof **pools);
    }
    uint64_t state = 1;
    for (long i = 0; i < count; i++) {
        struct vector *place = &bodies[i].place;
        place->x = 2 * next_number(&state) - 1;
        place->y = 2 * next_number(&state) - 1;
        place->z = 2 * next_number(&state) - 1;
        bodies[i].mass = 1.0 / (double)count;
    }
    run_team(body_of_thread);
    double momentum = 0;
    for (long i = 0; i < count; i++) {
        momentum += bodies[i].mass * (bodies[i].speed.x + bodies[i].speed.y + bodies[i].speed.z);
    }
    // The tree's approximation does not keep momentum exactly, and the last step has moved the bodies a little.
    int right = fabs(momentum) < 1e-3 && fabs(root->mass - 1) < 1e-3;
    for (long i = 0; i < count; i += count / 16) {
        right &= fabs(direct_force(i) - bodies[i].force.x) < 0.05 * bodies[i].mass;
    }
    return verdict(right, interactions);
}
