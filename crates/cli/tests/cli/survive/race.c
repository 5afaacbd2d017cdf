#include "race.h"

// Races, and ends with its own status.
int main(void) {
    race();
    puts("done");
    return 4;
}
