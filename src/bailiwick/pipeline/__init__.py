"""The flow: jobs in, the stages put to work in this process or in many."""
