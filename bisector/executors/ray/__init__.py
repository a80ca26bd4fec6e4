"""Candidates built and run on the nodes of a Ray cluster.

On each node that is used lives one *agent* (`agent`): an actor that takes no resources, hands each piece of work to
Ray as a task with the resources that were asked for, and keeps its result until the driver has taken it. Since the
agent owns the tasks, and not the driver, a driver that is killed loses nothing: after `bisector resume` it finds the
agents by their names, and takes up what they have. On the driver's side a node is a `Host` (`hosts`) among others.

Nodes see the same files under the same paths (a shared file system), but for the smoke script, which is sent along.
Credentials are each node's own: none is put into the arguments of a task.
"""
