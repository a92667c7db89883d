import { definePermissions } from "./lib/permissions";

export const permissions = definePermissions(
  // Each role with the roles from which it inherits.
  {
    guest: [],
    member: ["guest"],
    editor: ["member"],
    auditor: ["guest"],
    admin: ["editor", "auditor"],
  },
  {
    users: {
      actions: {
        read: { member: true },
        edit: {
          member: (user, actor) => user._id === actor.userId,
          admin: true,
        },
        delete: { admin: (user, actor) => user._id !== actor.userId },
      },
      fields: { member: ["_id", "name"], auditor: ["role"], admin: "all" },
    },
    posts: {
      actions: {
        read: {
          guest: (post) => post.status === "published",
          member: (post, actor) => post.authorId === actor.userId,
          editor: true,
          auditor: true,
        },
        edit: {
          member: (post, actor) =>
            post.authorId === actor.userId && post.status === "draft",
          editor: true,
        },
        delete: { admin: true },
        publish: { editor: (post) => post.status === "draft" },
      },
      fields: {
        guest: ["title", "body"],
        member: ["_id", "authorId", "status"],
        editor: ["reviewNote"],
        auditor: ["_creationTime", "score"],
        admin: "all",
      },
    },
    comments: {
      actions: {
        read: {
          guest: (comment) => !comment.hidden,
          editor: true,
          auditor: true,
        },
        edit: { member: (comment, actor) => comment.authorId === actor.userId },
        delete: {
          member: (comment, actor) => comment.authorId === actor.userId,
          editor: (comment, actor) => comment.hidden || actor.role === "admin",
        },
        hide: { editor: (comment) => !comment.hidden },
      },
      fields: {
        guest: ["text"],
        member: ["authorId", "postId"],
        editor: "all",
      },
    },
    files: {
      actions: {
        read: {
          guest: (file) => file.kind === "image" && file.width <= 800,
          member: (file, actor) => file.ownerId === actor.userId,
          auditor: (file) => file.kind === "image" || file.secret !== true,
        },
        edit: { member: (file, actor) => file.ownerId === actor.userId },
        delete: { member: (file, actor) => file.ownerId === actor.userId },
        publish: {},
      },
      fields: {
        guest: ["kind", "url"],
        member: ["width"],
        auditor: ["pages", "secret"],
      },
    },
  },
);
