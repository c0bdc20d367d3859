"""What programs that try something again and again are given: MPIRUN PROGRAM [TRIALS, 12] [--report FILE]."""
import argparse


def parsed_arguments():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("mpirun")
    arguments.add_argument("program")
    arguments.add_argument("trials", type=int, nargs="?", default=12)
    arguments.add_argument("--report")
    return arguments.parse_args()
