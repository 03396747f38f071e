"""Runs a benchmark in shards on Ray and merges the answers with the evaluator's own code.

Runs inside a Ray job as `python -u -m shardboard_driver request.json`, with the unpacked package as working directory.
"""
