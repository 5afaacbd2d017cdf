// Elevators, one thread each, take people from floor to floor; each floor's queue has a lock: a program of Eraser's and
// later papers, TREE's among them. Checked by where the people are at the end.
// suite: tree-rdit
// size: 32000000 quick: 20000 sweep: 4000000 8000000 16000000 32000000
#include "include/team.h"

enum { FLOORS = 32, CAPACITY = 12 };

struct floor {
    pthread_mutex_t lock;
    // People who wait: `goals` from `served` up to `callers`.
    long served, callers;
    uint8_t *goals;
    long arrived;
};

static long people;
static struct floor floors[FLOORS];
static long *travelled;

static int someone_waits(struct floor *floor) {
    guard(&floor->lock);
    int some = floor->served < floor->callers; //~ RACE served
    unguard(&floor->lock);
    return some;
}

// The nearest floor where someone waits, or -1.
static long nearest_call(long place) {
    for (long distance = 0; distance < FLOORS; distance++) {
        if (place + distance < FLOORS && someone_waits(&floors[place + distance])) {
            return place + distance;
        }
        if (place - distance >= 0 && someone_waits(&floors[place - distance])) {
            return place - distance;
        }
    }
    return -1;
}

static void body(long me) {
    long place = 0;
    uint8_t on_board[CAPACITY];
    for (long call; (call = nearest_call(place)) >= 0;) {
        struct floor *floor = &floors[call];
        travelled[me] += labs(call - place);
        place = call;
        int passengers = 0;
        pthread_mutex_lock(&floor->lock);
        while (passengers < CAPACITY && floor->served < floor->callers) {
            on_board[passengers++] = floor->goals[floor->served++]; //~ RACE served
        }
        pthread_mutex_unlock(&floor->lock);
        for (int i = 0; i < passengers; i++) {
            struct floor *goal = &floors[on_board[i]];
            travelled[me] += labs((long)on_board[i] - place);
            place = on_board[i];
            pthread_mutex_lock(&goal->lock);
            goal->arrived++;
            pthread_mutex_unlock(&goal->lock);
        }
    }
}

int main(int count, char **words) {
    people = arguments(count, words, 32000000, FLOORS, 1L << 32);
    travelled = room(threads, sizeof *travelled);
    long expected[FLOORS] = {0};
    for (int i = 0; i < FLOORS; i++) {
        pthread_mutex_init(&floors[i].lock, NULL);
        floors[i].goals = room(people / FLOORS + 1, 1);
    }
    uint64_t state = 1;
    for (long i = 0; i < people; i++) {
        struct floor *floor = &floors[i % FLOORS];
        long goal = next_below(&state, FLOORS);
        floor->goals[floor->callers++] = (uint8_t)goal;
        expected[goal]++;
    }
    run_team(body);
    int right = 1;
    uint64_t checksum = 0;
    for (int i = 0; i < FLOORS; i++) {
        right &= floors[i].arrived == expected[i] && floors[i].served == floors[i].callers;
        checksum = scramble(checksum ^ (uint64_t)floors[i].arrived);
    }
    return verdict(right, checksum);
}
