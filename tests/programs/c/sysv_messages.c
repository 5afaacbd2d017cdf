// Messages of System V: who receives one comes after who sent it.
#include "../include/threads.h"

#include <sys/ipc.h>
#include <sys/msg.h>

enum { ROUNDS = 100 };

struct message {
    long kind;
    int slot;
};

static int queue, slots[ROUNDS];

static void sends(void) {
    for (int i = 0; i < ROUNDS; i++) {
        slots[i] = i;
        struct message message = {1, i};
        MUST(msgsnd(queue, &message, sizeof message.slot, 0) == 0);
    }
}

static void receives(void) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct message message;
        MUST(msgrcv(queue, &message, sizeof message.slot, 0, 0) == sizeof message.slot);
        sum += slots[message.slot];
    }
    printf("%d\n", sum);
}

int main(void) {
    queue = msgget(IPC_PRIVATE, 0600);
    MUST(queue >= 0);
    together(sends, receives);
    msgctl(queue, IPC_RMID, NULL);
}
